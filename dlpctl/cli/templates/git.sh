#!/bin/sh
# Keeps sensitive data out of commits. Written by 'dlpctl hook install git'; 'dlpctl hook uninstall git' removes it.
# To commit in spite of it: git commit --no-verify. To accept a finding: dlpctl baseline update.

before="$0.before-dlpctl"
if [ -x "$before" ]; then
    "$before" "$@" || exit $?
fi

if command -v dlpctl >/dev/null 2>&1; then
    dlpctl scan --staged
else
    @PYTHON@ -m dlpctl scan --staged
fi
status=$?
# 10 says that all findings are below --fail-on.
[ "$status" -eq 10 ] && exit 0
if [ "$status" -eq 20 ]; then
    echo "dlpctl: not committed. To accept what was found: dlpctl baseline update; to commit all the same: git commit --no-verify" >&2
fi
exit "$status"
