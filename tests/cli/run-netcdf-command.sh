#!/bin/bash
# run-netcdf-command.sh - `datarep netcdf`: programs get the library, their arguments and nothing else;
# .ncrc keeps all that is not ours.  A stub stands for the library.
# shellcheck source=tests/cli/tap.sh disable=SC2154 # tap.sh sets tmp and HERE
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/tap.sh"

stub=$(dirname "$DATAREP")/tests/cli/plugin_stub.so
mkdir -p "$tmp/tree/bin" "$tmp/tree/lib/datarep" "$tmp/home" "$tmp/work dir" "$tmp/path"
# Only the command's own directory decides where the library is.
cp "$DATAREP" "$tmp/tree/bin/datarep"
DATAREP=$tmp/tree/bin/datarep
door=$(realpath "$tmp")/tree/lib/datarep/libdatarep-netcdf.so
export HOME=$tmp/home PATH=$tmp/path:$PATH
unset NCRCENV_RC NCRCENV_HOME NCRCENV_IGNORE LD_PRELOAD
rc=$HOME/.ncrc
cd "$tmp/work dir" || exit 1

prints() { # TEXT ARGUMENT...: on stdout, with status 0
    local want=$1
    shift
    status 0 "$@" && [ "$(cat "$tmp/out")" = "$want" ] || { cat "$tmp/out" "$tmp/err"; return 1; }
}

# ------------------------------------------------------------------ no library

check "no library: a program" refuses 125 'libdatarep-netcdf.so is neither .*package datarep-netcdf' netcdf true
check "no library: --install" refuses 3 'package datarep-netcdf' netcdf --install --yes
check "no library: nothing is written" test ! -e "$rc"
check "no library: --status" status 1 netcdf --status
cp "$stub" "$door"
chmod 666 "$door"
check "a library that others may write" refuses 125 'writable by everybody' netcdf true
chmod 644 "$door"

# ------------------------------------------------------------------- a program

check "the library is loaded" prints yes netcdf sh -c 'echo "$STUB_LOADED"'
check "behind two dashes" prints yes netcdf -- sh -c 'echo "$STUB_LOADED"'
same_arguments() {
    status 0 netcdf -- printf '<%s>\n' 'a b' '$(id)' '`id`' '; id' '' '*' $'new\nline' '-h' '--install' &&
        printf '<%s>\n' 'a b' '$(id)' '`id`' '; id' '' '*' $'new\nline' '-h' '--install' | cmp - "$tmp/out"
}
check "arguments arrive as they are" same_arguments
check "the status is the program's" status 7 netcdf sh -c 'exit 7'
check "a signal is the program's" status 143 netcdf sh -c 'kill -TERM $$'
check "SIGXFSZ is not ignored in it" prints 0 netcdf sh -c 'awk "/^SigIgn/ { print substr(\$2, 10, 1) }" /proc/self/status'
check "standard input is the program's" sh -c "echo hello | '$DATAREP' netcdf cat | grep -qx hello"
preload_kept() {
    cp "$stub" "$tmp/other.so"
    LD_PRELOAD=$tmp/other.so prints "$tmp/other.so:$door" netcdf sh -c 'echo "$LD_PRELOAD"' &&
        LD_PRELOAD="$tmp/other.so $door" prints "$tmp/other.so $door" netcdf sh -c 'echo "$LD_PRELOAD"'
}
check "LD_PRELOAD keeps what it has" preload_kept
check "no program" refuses 2 'which program' netcdf
check "no such program" refuses 127 'nonsense: no such program in \$PATH' netcdf nonsense
check "no such path" refuses 127 'No such file' netcdf ./nonsense
printf 'echo hello\n' > plain
check "a file that may not be run" refuses 126 'may not be run' netcdf ./plain
chmod +x plain
check "no shell runs a file without #!" refuses 126 'names its interpreter' netcdf ./plain
printf '#!/bin/sh\necho "$STUB_LOADED"\n' > "$tmp/path/script"
chmod +x "$tmp/path/script"
check "a script" prints yes netcdf script
if [ -x /sbin/ldconfig ] && ! readelf -l /sbin/ldconfig | grep -q INTERP; then
    check "a static program" refuses 126 'ldconfig: statically linked' netcdf /sbin/ldconfig -V
else
    skip "a static program" "/sbin/ldconfig is linked dynamically here"
fi
if [ "$(id -u)" = 0 ]; then
    cp /bin/true "$tmp/path/setuid" && chown 65534 "$tmp/path/setuid" && chmod 4755 "$tmp/path/setuid"
    check "a setuid program" refuses 126 'other rights' netcdf setuid
    cp /bin/true "$tmp/path/setgid" && chown 0:65534 "$tmp/path/setgid" && chmod 2755 "$tmp/path/setgid"
    check "a setgid program" refuses 126 'other rights' netcdf setgid
elif [ -u /usr/bin/passwd ]; then
    check "a setuid program" refuses 126 'other rights' netcdf /usr/bin/passwd --help
fi
printf '\177ELF\1\2\1                          ' > "$tmp/path/foreign"
head -c 100 /dev/zero >> "$tmp/path/foreign"
chmod +x "$tmp/path/foreign"
check "a program for another machine" refuses 126 'another machine' netcdf foreign

# ------------------------------------------------------------------------- CDO

printf '#!/bin/sh\nprintf "%%s\\n" "$@"\n' > "$tmp/path/cdo"
cp "$tmp/path/cdo" "$tmp/path/ncks"
chmod +x "$tmp/path/cdo" "$tmp/path/ncks"
mkdir "$tmp/plain"
cp "$HERE/../vectors/scalar.drep" "$tmp/plain/a.drep"
cp "$tmp/plain/a.drep" "$tmp/plain/no-end"
cp "$tmp/plain/a.drep" "$tmp/plain/two words.drep"
cp "$tmp/plain/a.drep" "$tmp/plain/a#b.drep"
cp "$tmp/plain/a.drep" "$tmp/plain/"$'a\nb.drep'
echo text > "$tmp/plain/c.drep"
here=$(realpath "$tmp/plain")
cdo_gets() { # WANT ARGUMENT...: in the plain directory
    local want=$1
    shift
    (cd "$tmp/plain" && prints "$want" netcdf cdo "$@")
}
check "cdo: what is read becomes a URL" cdo_gets "-O
-sub
-selname,t
file://$here/a.drep#mode=netcdf-4,udf0
file://$here/no-end#mode=netcdf-4,udf0
out.drep" -O -sub -selname,t a.drep "$here/no-end" out.drep
check "cdo: what is none stays" cdo_gets "c.drep
nope.drep
file:///x/a.drep#mode=netcdf-4,udf0" c.drep nope.drep 'file:///x/a.drep#mode=netcdf-4,udf0'
check "cdo: a directory with a blank in its name" sh -c "cp '$here/a.drep' . && '$DATAREP' netcdf cdo a.drep | grep -qx 'file:///proc/self/cwd/a.drep#mode=netcdf-4,udf0'"
cd "$tmp/plain" || exit 1
check "cdo: a name with a blank" refuses 125 "two words.drep: CDO cannot read" netcdf cdo 'two words.drep' x.nc
check "cdo: a name with #" refuses 125 "a#b.drep: CDO cannot read" netcdf cdo 'a#b.drep' x.nc
check "cdo: a name with a newline" refuses 125 "control character" netcdf cdo $'a\nb.drep' x.nc
check "other programs get names as they are" prints a.drep netcdf ncks a.drep

# ----------------------------------------------------------------------- .ncrc

lines() { # SLOT: our two lines
    printf 'NETCDF.UDF%s.LIBRARY=%s\nNETCDF.UDF%s.INIT=datarep_netcdf_init\n' "$1" "$door" "$1"
}
file_is() { # TEXT
    printf '%s' "$1" | diff - "$rc"
}
check "--install shows" status 1 netcdf --install
check "--install: the lines" sh -c "grep -qx '  NETCDF.UDF0.LIBRARY=$door' '$tmp/out' && grep -qx '  NETCDF.UDF0.INIT=datarep_netcdf_init' '$tmp/out' && grep -q -- --yes '$tmp/out'"
check "--install: what netCDF-C there is" grep -qE '^netCDF-C: .*4\.10' "$tmp/out"
check "--install writes nothing without --yes" test ! -e "$rc"
check "--install --yes" status 0 netcdf --install --yes
check "the new file" file_is "$(lines 0)
"
check "a new file is its owner's alone" test "$(stat -c %a "$rc")" = 600
check "--status" status 0 netcdf --status
check "--status: ours" grep -q "UDF0: $door, this library" "$tmp/out"
stamp=$(stat -c %i "$rc")
check "--install again" status 0 netcdf --install --yes
check "changes nothing" test "$stamp" = "$(stat -c %i "$rc")"
check "--uninstall shows" status 1 netcdf --uninstall
check "--uninstall --yes" status 0 netcdf --uninstall --yes
check "nothing is left" file_is ""
check "--uninstall again" status 0 netcdf --uninstall --yes

rest='# my servers
[https://data.example.org]HTTP.CREDENTIALS.PASSWORD=p=q#r
HTTP.NETRC=/home/me/.netrc
NETCDF.UDF0.LIBRARY = /opt/other.so
NETCDF.UDF0.INIT=other_init
#NETCDF.UDF1.LIBRARY=/opt/old.so
NETCDF.UDF2.MAGIC=GRIB'
mkdir "$HOME/real"
printf '%s' "$rest" > "$HOME/real/rc"
chmod 640 "$HOME/real/rc"
rm "$rc"
ln -s real/rc "$rc"
check "a file with other lines" status 0 netcdf --install -y
check "says who has UDF0" grep -qx 'UDF0 is taken by /opt/other.so' "$tmp/out"
check "all lines are kept" file_is "$rest
$(lines 1)
"
check "the link is kept" test "$(readlink "$rc")" = real/rc
check "the mode is kept" test "$(stat -c %a "$HOME/real/rc")" = 640
sed -i "s,^NETCDF.UDF1.LIBRARY=.*,NETCDF.UDF1.LIBRARY=/gone/lib.so," "$HOME/real/rc"
check "--status of another copy" status 1 netcdf --status
check "which is not there" grep -q 'UDF1: /gone/lib.so, which is not there' "$tmp/out"
check "--install in its place" status 0 netcdf --install --yes
check "the place of the lines is kept" file_is "$rest
$(lines 1)
"
check "--uninstall keeps the rest" status 0 netcdf --uninstall --yes
check "byte for byte" file_is "$rest
"
printf 'NETCDF.UDF1.INIT=a\nNETCDF.UDF2.INIT=b\n' >> "$HOME/real/rc"
cp "$HOME/real/rc" "$tmp/before"
check "no slot is free" refuses 3 'UDF0, UDF1 and UDF2 are taken' netcdf --install --yes
check "nothing has changed" cmp "$tmp/before" "$rc"
check "no file is left over" test "$(ls -A "$HOME/real")" = rc
both() { # the names of the environment: NCRCENV_RC before NCRCENV_HOME before HOME
    mkdir -p "$tmp/h2" && NCRCENV_HOME=$tmp/h2 status 0 netcdf --install --yes && lines 0 | cmp - "$tmp/h2/.ncrc" &&
        NCRCENV_HOME=$tmp/h2 NCRCENV_RC=$tmp/named status 0 netcdf --install --yes && lines 0 | cmp - "$tmp/named"
}
check "NCRCENV_HOME and NCRCENV_RC" both
check "without HOME" sh -c "env -u HOME '$DATAREP' netcdf --status 2>&1 | grep -q 'HOME is not set'"
check "a directory" env NCRCENV_RC="$tmp" sh -c "! '$DATAREP' netcdf --install --yes 2> '$tmp/err' && grep -q 'not a regular file' '$tmp/err'"
mkfifo "$tmp/pipe"
check "a pipe" env NCRCENV_RC="$tmp/pipe" timeout 5 sh -c "'$DATAREP' netcdf --install --yes 2> '$tmp/err'; [ \$? = 3 ]"
check "--yes alone" refuses 2 'goes with --install' netcdf --yes
check "two tasks" refuses 2 'one of them' netcdf --install --uninstall
check "a task and a program" refuses 2 'too many' netcdf --status ncdump

# Of a library in a directory with an odd name.
for name in 'two words' 'co:lon' $'new\nline' 'do$llar'; do
    mkdir -p "$tmp/$name/bin"
    cp "$DATAREP" "$tmp/$name/bin/datarep"
    cp "$stub" "$tmp/$name/bin/libdatarep-netcdf.so"
    DATAREP=$tmp/$name/bin/datarep
    check "preloaded from $(printf %q "$name")" refuses 125 'LD_PRELOAD cannot name a path' netcdf true
    case $name in
    *[$' \n']*) check "installed from $(printf %q "$name")" refuses 3 'blanks or control' netcdf --install --yes ;;
    esac
done
DATAREP=$tmp/tree/bin/datarep

# What .ncrc names need not be there.
if command -v ncdump > /dev/null && command -v ncgen > /dev/null; then
    printf 'netcdf a { dimensions: x = 1; }' | ncgen -o "$tmp/a.nc"
    printf 'NETCDF.UDF0.LIBRARY=/gone.so\nNETCDF.UDF0.INIT=datarep_netcdf_init\n' > "$tmp/named"
    check "ncdump with a library that is gone" env NCRCENV_RC="$tmp/named" ncdump -h "$tmp/a.nc"
else
    skip "ncdump with a library that is gone" "no ncdump"
fi
done_testing
