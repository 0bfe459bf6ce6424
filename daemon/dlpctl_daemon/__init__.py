"""The local HTTP service of dlpctl.

An operation is declared in `dlpctl.control.resources`; the service only carries it: routes, limits,
processes and the console. It never imports `dlpctl.cli`.
"""
