"""Scans: walk files or git, search contents in workers, and write reports. Nothing is printed."""
