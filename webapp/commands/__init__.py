"""The commands of `coppice`, a file for each subject; `cli.COMMANDS` names them."""
