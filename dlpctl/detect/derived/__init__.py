"""Derive further texts: encoded runs decoded, and cells of tables after their headers."""
