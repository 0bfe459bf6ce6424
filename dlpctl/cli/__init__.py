"""The command line: it reads options and prints, and all work is done by the rooms below it."""
