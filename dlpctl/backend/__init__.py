"""Clients of the control plane, in this process or on a server, and the license client."""
