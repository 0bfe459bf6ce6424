"""The system below: files, locks, processes and signals."""
