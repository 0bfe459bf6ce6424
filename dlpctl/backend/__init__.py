"""What the command line asks of a control plane, be it in this process or behind an address."""
