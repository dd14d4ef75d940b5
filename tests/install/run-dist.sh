#!/bin/bash
# run-dist.sh - the archive of the sources has what git has, is the same bytes each time, and builds without git.
# SPDX-License-Identifier: MIT
set -u
cd "$SRCDIR" || exit 1
git rev-parse -q --verify HEAD > /dev/null 2>&1 || {
    echo "1..0 # SKIP not a git repository"
    exit 0
}
n=0
check() {
    local name=$1
    shift
    n=$((n + 1))
    if "$@" > "$TMPDIR/log" 2>&1; then
        echo "ok $n - $name"
    else
        echo "not ok $n - $name"
        tail -n 30 "$TMPDIR/log" | sed 's/^/# /'
    fi
}

made() {
    tools/dist "$TMPDIR/one" && (umask 077 && tools/dist "$TMPDIR/two") && cmp "$TMPDIR"/one/*.tar.gz "$TMPDIR"/two/*.tar.gz
}
unpacked() {
    mkdir "$TMPDIR/src" && tar -xf "$TMPDIR"/one/*.tar.gz -C "$TMPDIR/src" --strip-components=1 &&
        (cd "$TMPDIR/src" && find . -type f -o -type l | sed 's|^\./||' | grep -v '^tools/share/commit$' | LC_ALL=C sort) > "$TMPDIR/there" &&
        git ls-tree -r --name-only -z HEAD | tr '\0' '\n' | LC_ALL=C sort > "$TMPDIR/wanted" && diff "$TMPDIR/wanted" "$TMPDIR/there"
}
# What is compiled, and the way from there to the libraries: the rest is as in each other test.
builds() {
    local path
    mkdir "$TMPDIR/bin"
    printf '#!/bin/sh\necho git was called >&2\nexit 1\n' > "$TMPDIR/bin/git"
    chmod +x "$TMPDIR/bin/git"
    path=$TMPDIR/bin:$PATH
    env -u MAKEFLAGS PATH="$path" make -s -C "$TMPDIR/src" -n all > "$TMPDIR/plan" &&
        env -u MAKEFLAGS PATH="$path" make -s -C "$TMPDIR/src" build/release/obj/tools/cmd/version.o build/release/obj/lib/api/version.o &&
        strings -a "$TMPDIR/src/build/release/obj/tools/cmd/version.o" | grep -qF "$(git describe --always --abbrev=12)"
}
# The page goes along as it is, so that its files are not built anew, and is installed from there.
pages() {
    mkdir -p "$TMPDIR/www/assets" "$TMPDIR/paged" && echo page > "$TMPDIR/www/index.html" && echo 1 > "$TMPDIR/www/assets/a.js" &&
        tools/dist --page "$TMPDIR/www" "$TMPDIR/three" && tools/dist --page "$TMPDIR/www" "$TMPDIR/four" &&
        cmp "$TMPDIR"/three/*.tar.gz "$TMPDIR"/four/*.tar.gz && tar -xf "$TMPDIR"/three/*.tar.gz -C "$TMPDIR/paged" --strip-components=1 &&
        cmp "$TMPDIR/www/assets/a.js" "$TMPDIR/paged/build/web/www/assets/a.js" && tools/dist "$TMPDIR/one" 2>&1 | grep -q 'lacks the page' &&
        env -u MAKEFLAGS make -s -C "$TMPDIR/paged" -n install DESTDIR=/d 2> /dev/null | grep -q 'install .*build/web/www/index.html'
}
check "make dist makes the same bytes twice" made
check "it has the files of the commit, and no others" unpacked
check "it is built without git, and knows its commit" builds
check "it has the page of datarep view, if that is built, and says so if not" pages
echo "1..$n"
