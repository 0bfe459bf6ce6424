"""Names of persons and postal addresses: what no regex can describe, found by a statistical tagger."""
