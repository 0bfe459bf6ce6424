"""From spans to masked text. Nothing here knows how values are found or what the policy says."""
