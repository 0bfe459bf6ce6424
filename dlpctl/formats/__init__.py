"""File formats: read a file into texts, and write a copy with edits."""
