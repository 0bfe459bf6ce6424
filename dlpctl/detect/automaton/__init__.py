"""Compile patterns, cache them, and report with one pass which of them may match where."""
