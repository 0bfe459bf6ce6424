"""The system below: files, locks, memory, processes and signals."""
