"""The boundary between dlpctl and a process that reads hostile files: messages, and the process
itself.
"""
