"""Pattern files and name data; no logic."""
