"""The process that reads hostile files, and its messages. `dlpctl.formats.worker` is the parent's
side; `dlpctl.processes` is what all child processes have in common.
"""
