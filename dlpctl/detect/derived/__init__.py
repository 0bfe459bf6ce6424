"""Derive further texts: decoded runs, and cells of tables after their headers."""
