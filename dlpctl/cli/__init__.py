"""The command line: it parses options and prints results; lower layers do the work."""
