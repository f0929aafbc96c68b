"""The commands of `coppice`, one file a subject. Each says in `COMMANDS` what it holds, by name."""
