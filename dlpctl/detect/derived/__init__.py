"""Derive further texts from a text: encoded runs decoded, and cells of tables after their headers."""
