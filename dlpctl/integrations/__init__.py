"""Integrations for applications: masking in clients of models, web applications, logs and traces.

Only the module for a package imports that package.
"""
