"""Compile patterns, cache them, and find in one pass which patterns may match, and where."""
