"""The control plane: organizations, policies, licenses, checks and their audit log."""
