#!/bin/sh
# run-soak.sh - a writer and four readers, killed again and again; `make soak` does it for long.
# timeout: 300
# SPDX-License-Identifier: MIT
set -u
: "${BUILDDIR:=build}" "${SRCDIR:=.}" "${TMPDIR:=/tmp}"
if text=$(/usr/bin/python3 "$SRCDIR/tests/fault/soak.py" "$BUILDDIR/release/tests/fault/writer" \
    "$TMPDIR" 15 1); then
    echo "ok 1 - $text"
    commits=${text#*: }
    echo "counted: ${commits%% *} commits while writers and readers were killed"
    status=0
else
    echo "not ok 1 - a writer and four readers"
    echo "$text" | sed 's/^/# /'
    status=1
fi
echo 1..1
exit $status
