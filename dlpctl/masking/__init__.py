"""From spans to masked text, independent of how values are found and what the policy says."""
