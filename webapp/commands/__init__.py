"""The commands of `coppice`, a file for each subject. `COMMANDS` in a file names its commands."""
