"""Names of persons and postal addresses: a statistical tagger finds what no regex can describe."""
