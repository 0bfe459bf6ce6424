"""Scans on the command line: the request, the workers, the reports, and the review of findings.

`dlpctl.scan` finds and reports; what a person chooses and sees is here. The commands `scan`,
`hook`, `baseline`, `allow` and `review` share these modules.
"""
