"""Pattern files: the model of a pattern, and how files are found, parsed and checked."""
