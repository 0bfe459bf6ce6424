"""The commands of the program, one module for each; a new module is a new command."""
