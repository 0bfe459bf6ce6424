"""What the command line asks of a control plane, be it in this process or behind an address."""

from dlpctl.backend.local import LocalBackend as LocalBackend
