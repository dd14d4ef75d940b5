#!/bin/bash
# slow: ten minutes of a browser
# run-browser.sh - the page in headless Chromium; `make web-test` runs it, figures beside their bars.
#
# Usage: run-browser.sh --full [WORD]    WORD: only tests whose names have it
# SPDX-License-Identifier: MIT
set -u
cd "$(dirname "$0")/../.." || exit 1
export BUILDDIR=${BUILDDIR:-build} SRCDIR=${SRCDIR:-.}
skip() {
    echo "1..0 # SKIP $1"
    exit 0
}
[ "${1-}" = --full ] || skip "a browser is part of make web-test alone"
[ -f "$BUILDDIR/web/www/index.html" ] || skip "there is no build of the page: make web"
[ -x "${CHROMIUM:-/usr/bin/chromium}" ] || skip "no Chromium: tools/install-deps web"
# One program after the other: node runs one, and takes further names for its arguments.
run() {
    local status=0
    for t in browser unlucky; do
        timeout 1800 node --test-reporter=tap --test-name-pattern="${1-.}" "tests/web/$t.test.mjs" 2>&1 || status=1
    done
    return $status
}
run "${2-.}" | awk '
    /^(ok|not ok) / { n++; sub(/^(not )?ok [0-9]+/, (/^not/ ? "not ok " : "ok ") n); print; next }
    /counted: / { sub(/.*counted: /, "counted: "); print; next }
    /^# Subtest|^TAP|^1\.\./ { next }
    { print (/^#/ ? "" : "# ") $0 }
    END { print "1.." n }'
exit "${PIPESTATUS[0]}"
