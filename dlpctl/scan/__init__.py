"""Scans: list files, git contents, objects or tables, search them in workers, and write reports.

A source lists contents, `reader` searches a batch of them in a worker, `scanner` puts the results
in order, and a report is a module of `reports`.
"""
