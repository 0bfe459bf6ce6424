"""The process that reads hostile files, and its messages; `worker` is the parent's side."""
