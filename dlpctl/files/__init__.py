"""The use cases for files of every format: check one, mask one, find in one."""
