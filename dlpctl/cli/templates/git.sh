#!/bin/sh
# Keeps secrets out of commits. Written by 'dlpctl hook install git'; 'dlpctl hook uninstall git' removes it.
# To skip it for one commit: git commit --no-verify.

before="$0.before-dlpctl"
if [ -x "$before" ]; then
    "$before" "$@" || exit $?
fi

if command -v dlpctl >/dev/null 2>&1; then
    exec dlpctl hook run@OPTIONS@
fi
# -P: a folder 'dlpctl' in the repository is not the program.
exec @PYTHON@ -P -m dlpctl hook run@OPTIONS@
