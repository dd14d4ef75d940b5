#!/bin/bash
# run-check.sh - `datarep reps --check` passes what keeps the rules, says what breaks them,
# and plugins are loaded from where the user said, and from nowhere else.
# shellcheck disable=SC1091,SC2154 # tmp and the functions come from there
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../cli/tap.sh"
# Copies, since nobody knows who may write above the build.
built=$tmp/built
mkdir -p "$tmp/plugins" "$built"
cp -r "${BUILDDIR:-$PWD/../../build}/release/tests/"{reps,examples} "$built"
cp "$built/examples/plugin_mirror.so" "$tmp/plugins/mirror.so"
unset DREP_PLUGIN_PATH

# passes WORD...: every check of what is named is passed, and the status is 0.
passes() {
    status 0 reps --check "$@" || return 1
    ! grep -q FAILED "$tmp/out" && [ "$(grep -c ': ok$' "$tmp/out")" -ge 13 ]
}

# fails PLUGIN CHECK WORDS: this check is not passed and says so, with status 1.
fails() {
    status 1 reps --check --plugin "$built/reps/plugin_$1.so" "$1" || return 1
    grep -q "^  $2: FAILED: .*$3" "$tmp/out" || { cat "$tmp/out"; return 1; }
}

# alone PLUGIN CHECK WORDS: and no other check fails.
alone() {
    fails "$@" && [ "$(grep -c FAILED "$tmp/out")" = 1 ]
}

for name in external32 internal native native:s390x native:m68k native:ppc64el-ibm; do
    check "$name passes" passes "$name"
done
check "a declared one, a serial one and one without functions pass" \
    passes --plugin "$built/reps/plugin_native_forms.so" ibm one-at-a-time as-it-is
check "D9: the example passes" passes --plugin "$built/examples/plugin_mirror.so" mirror

check "U8: an extent that is not what is written" fails wrong_extent values 'was not written'
check "an extent that changes" fails varying_extent extents 'is . and then .'
check "U8: a byte too many" fails overlong bounds 'wrote outside'
check "a write function that stops after 100 items" \
    fails short_write counts 'of 1000 items of BYTE, byte 100 of 1000 was not written'
check "a read function that stops after 100 items" \
    fails short_read counts 'of 1000 items of BYTE, item 100 was not read'
check "U8: a byte too many is read" alone overread bounds 'read outside filebuf, 1 bytes behind'
check "U5: a position that is not heeded" fails no_position position 'position is ignored'
check "U5: a count of datatypes" fails count_types position 'count is data items, not datatypes'
check "U6: a start that is not heeded" fails remembering cuts 'other bytes than writing all at once'
check "U7: not reentrant" alone not_reentrant threads 'not reentrant'
check "a sign that gets lost" fails unsigned values 'SHORT -1 comes back as 32767'
check "U9: a failing call" fails failing errors 'gave 7 in call 1000'
check "an error that is not told" alone swallowing values 'was not written'
check "gaps that are not left alone" fails gaps gaps 'belong to no item'
check "U7: a datatype that is given away" fails freeing datatype 'freed or changed'
check "D9: bytes that depend on the position" fails by_position items 'of its value alone'
check "U13: a write function that writes to userbuf" \
    fails user_writer bounds 'wrote to userbuf, which it may only read'
check "a function that hangs" alone hanging errors 'hung: more than 10 s'
check "C3: no read function and another extent" fails half_native native 'DOUBLE takes 4 bytes'

as_json() {
    status 1 reps --check --json --plugin "$built/reps/plugin_unsigned.so" unsigned internal || return 1
    python3 - "$tmp/out" <<'PY'
import json, sys
bad, good = json.load(open(sys.argv[1]))["datareps"]
assert (bad["name"], bad["ok"]) == ("unsigned", False), bad
assert (good["name"], good["ok"]) == ("internal", True), good
assert [c["check"] for c in bad["checks"]] == [c["check"] for c in good["checks"]]
why = {c["check"]: c.get("why") for c in bad["checks"]}
assert why["values"] == "SHORT -1 comes back as 32767" and why["bounds"] is None, why
PY
}
check "the same as JSON" as_json
check "an unknown name" refuses 4 'data representation "nobody" is not known' reps --check nobody
check "no name" status 2 reps --check

# In a directory that is enabled there is mirror.
loads() { # OPTION...
    status 0 reps "$@" mirror && grep -q '^mirror (code)$' "$tmp/out"
}
unknown() { # PATTERN OPTION...
    refuses 4 "$1" reps --check "${@:2}" mirror
}
from_plugins() { # NAME PATTERN
    refuses 4 "$2" reps --check --plugins "$tmp/plugins" "$1"
}
bad_mode() { # MODE PATH
    chmod "$1" "$2"
    from_plugins mirror 'is writable by everybody'
    local result=$?
    chmod 755 "$2"
    return $result
}
with_environment() { # VALUE COMMAND...
    (export DREP_PLUGIN_PATH=$1 && "${@:2}")
}
in_plugins() { # COMMAND...
    (cd "$tmp/plugins" && "$@")
}

check "nothing is loaded unless it is enabled" unknown 'is not known'
check "not even from the working directory" in_plugins unknown 'is not known'
check "enabled by an option" loads --plugins "$tmp/plugins"
check "enabled by the environment" with_environment "/nowhere:also:$tmp/plugins" loads
check "a relative path in the environment is not heeded" \
    in_plugins with_environment . unknown 'is not known'
check "a relative path in an option is one from here" \
    sh -c "cd '$tmp' && '$DATAREP' reps --plugins=nowhere:plugins/ mirror"
check "a directory that anybody may write" bad_mode 777 "$tmp/plugins"
check "a plugin that anybody may write" bad_mode 757 "$tmp/plugins/mirror.so"
above() { # MODE COMMAND...: with a directory above that of the plugins
    mkdir -p "$tmp/above/one/two" && cp "$tmp/plugins/mirror.so" "$tmp/above/one/two" || return 1
    chmod "$1" "$tmp/above"
    "${@:2}"
    local result=$?
    rm -r "$tmp/above"
    return $result
}
check "a directory above them that anybody may write" \
    above 777 refuses 4 'a directory above it is writable by everybody' \
    reps --check --plugins "$tmp/above/one/two" mirror
check "unless it is sticky" above 1777 loads --plugins "$tmp/above/one/two"
check "after that it is loaded again" loads --plugins "$tmp/plugins"

# A program that keeps the library's names for itself (RTLD_LOCAL), as Python does.
check "a plugin that is not linked with the library, in a host that keeps it local" \
    python3 -c 'import ctypes, sys; sys.exit(ctypes.CDLL(sys.argv[1]).drep_plugin_load(sys.argv[2].encode()))' \
    "$(dirname "$DATAREP")/libdatarep.so" "$tmp/plugins/mirror.so"

ln -s mirror.so "$tmp/plugins/link.so"
mkdir "$tmp/plugins/folder.so"
mkfifo "$tmp/plugins/pipe.so"
echo text > "$tmp/plugins/text.so"
for name in no_init init_fails other_name; do
    cp "$built/reps/plugin_$name.so" "$tmp/plugins/$name.so"
done
check "a symbolic link" from_plugins link 'not a regular file'
check "a directory" from_plugins folder 'not a regular file'
check "a pipe" from_plugins pipe 'not a regular file'
check "no shared object" from_plugins text 'cannot be loaded'
check "no plugin" from_plugins no_init 'no function drep_plugin_init'
check "a plugin that does not start" from_plugins init_fails 'drep_plugin_init\(\) gave 42'
check "a plugin for another name" from_plugins other_name 'does not register "other_name"'
for name in ../plugins/mirror mirror/../mirror 'mir ror' 'mirror$' mirrör .; do
    check "a name that leads to no file: $name" from_plugins "$name" 'is not known'
done
if [ "$(id -u)" = 0 ]; then
    cp "$tmp/plugins/mirror.so" "$tmp/plugins/owned.so"
    chown 12345 "$tmp/plugins/owned.so"
    check "a plugin of somebody else" from_plugins owned 'belongs to user 12345'
    others() { # COMMAND...: the directory above is somebody else's
        chown 12345 "$tmp/above" && "$@"
    }
    check "a sticky directory of somebody else above it" \
        above 1777 others refuses 4 'a directory above it belongs to user 12345' \
        reps --check --plugins "$tmp/above/one/two" mirror
fi

# A file names what its reader needs, but not where that is.
printf 'datarep: mirror\nroot:\n  d: {dataset: INT, shape: [3], data: [1, 2, 3]}\n' \
    > "$tmp/mirror.yaml"
made() {
    with_environment "$tmp/plugins" status 0 create -f -s "$tmp/mirror.yaml" "$tmp/mirror.drep"
}
read_back() { # OPTION...
    status 0 dump "$@" "$tmp/mirror.drep" && grep -q '1, 2, 3' "$tmp/out"
}
sed "1i hints: {drep_plugin_path: $tmp/plugins}" "$tmp/mirror.yaml" > "$tmp/own.yaml"
check "a schema cannot enable plugins" \
    refuses 2 'enabled by their user' create -s "$tmp/own.yaml" "$tmp/own.drep"
check "a file is made with a plugin" made
check "and read with it, by a hint" read_back --plugins "$tmp/plugins"
check "or from here" sh -c "cd '$tmp' && '$DATAREP' dump --plugins=nowhere:plugins/ mirror.drep | grep '1, 2, 3'"
cp "$tmp/mirror.drep" "$tmp/again.drep"
check "it is written anew in its place" status 0 convert -f --plugins "$tmp/plugins" "$tmp/again.drep" "$tmp/again.drep"
check "and is the same" status 0 diff --plugins "$tmp/plugins" "$tmp/mirror.drep" "$tmp/again.drep"
check "and by the environment" with_environment "$tmp/plugins" read_back
without() { # TEXT
    status 4 dump "$tmp/mirror.drep" && ! grep -q '1, 2, 3' "$tmp/out" && grep -q "$1" "$tmp/err"
}
check "and not without" without 'datarep "mirror" is not registered'
check "which is said with what to do" without 'or DREP_PLUGIN_PATH may name'
check "but it is copied as it is stored" status 0 convert -f "$tmp/mirror.drep" "$tmp/again.drep"
check "and is the same then" status 0 diff --plugins "$tmp/plugins" "$tmp/mirror.drep" "$tmp/again.drep"
check "but for its header" status 0 dump -H "$tmp/mirror.drep"
done_testing
