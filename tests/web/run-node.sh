#!/bin/bash
# run-node.sh - the package datarep-wasm in Node: values of the vectors, damaged files, sources of bytes.
#
# Needs what `make web` builds, and Node; without it there is nothing to test.
# Usage: run-node.sh [--full]    --full: 10,000 damaged files instead of 200, and `npm pack`
# SPDX-License-Identifier: MIT
set -u
cd "$(dirname "$0")/../.." || exit 1
export BUILDDIR=${BUILDDIR:-build} SRCDIR=${SRCDIR:-.}
skip() {
    echo "1..0 # SKIP $1"
    exit 0
}
[ -f "$BUILDDIR/web/datarep-wasm/core.wasm" ] || skip "there is no build of the core in WebAssembly: make web"
command -v node > /dev/null || skip "no Node: tools/install-deps web"
tests=(tests/web/{vectors,sources,mutants}.test.mjs)
if [ "${1-}" = --full ]; then
    export MUTANTS=${MUTANTS:-10000}
    tests+=(tests/web/package.test.mjs)
fi
# Cases inside of cases are indented, which the protocol does not know; what failed there is a comment.
node --test-reporter=tap --test "${tests[@]}" 2>&1 | awk '
    /^(ok|not ok) / { n++; sub(/^(not )?ok [0-9]+/, (/^not/ ? "not ok " : "ok ") n); print; next }
    /counted: / { sub(/.*counted: /, "counted: "); print; next }
    /^# Subtest|^TAP|^1\.\./ { next }
    { print "# " $0 }
    END { print "1.." n }'
exit "${PIPESTATUS[0]}"
