"""Operations on files of every format: check a file, mask a file, find values in a file."""
