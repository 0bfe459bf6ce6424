"""Pieces for applications: masking in clients of models, in logs and in traces.

Each module imports the package that it is for, and nothing else does.
"""
