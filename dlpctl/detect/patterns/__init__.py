"""Pattern files: the model of a pattern, and finding, parsing and checking files."""
