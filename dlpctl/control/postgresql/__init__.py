"""PostgreSQL as the database of the control plane."""
