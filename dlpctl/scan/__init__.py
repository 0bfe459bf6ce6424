"""Scans: list files, git contents, objects or tables, search them in workers, and write reports."""
