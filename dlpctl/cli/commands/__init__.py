"""The commands of the program, one module each; adding a module adds a command."""
