"""The control plane: organizations, policies, licenses, checks and their audit log.

An operation has two places: its declaration in `resources`, and the method that does it in the
module of its subject here. Routes, clients and the description of the service follow from them.
"""
