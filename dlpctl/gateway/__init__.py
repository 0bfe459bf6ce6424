"""The gateway between applications and models: requests are masked, and answers restored."""
