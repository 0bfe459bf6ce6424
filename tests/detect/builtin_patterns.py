"""The patterns that ship, read once for all tests."""

from __future__ import annotations

from dlpctl.detect.patterns.library import builtin_files, load_patterns

PATTERNS = load_patterns(builtin_files())
