"""The command line: it parses options and prints results; lower layers do the work.

A command is a module of `commands`, registered by being there; a page of `dlpctl help` is a file of
`topics`. What several commands share is beside them, or in the room of its subject.
"""
