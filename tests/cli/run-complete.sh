#!/bin/bash
# run-complete.sh - what the shells complete: asked of the command itself, and by pressing the
# key in a pseudo-terminal.
# shellcheck source=tests/cli/tap.sh disable=SC2154 # tap.sh sets tmp and HERE
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/tap.sh"

scripts=$HERE/../../tools/completion
mkdir "$tmp/bin" "$tmp/work" "$tmp/work/folder"
ln -s "$DATAREP" "$tmp/bin/datarep"
PATH=$tmp/bin:$PATH
cd "$tmp/work" || exit 1
touch notes.txt picture.h5
mkfifo pipe.drep
head -c 5000 "$HERE/../vectors/tree.drep" > cut.drep
cat > sea.yaml << 'YAML'
dims: {lat: 2}
types: {point: {struct: {x: DOUBLE}}}
root:
  sst: {dataset: FLOAT, dims: [lat]}
  two words: {dataset: INT, shape: [3]}
  "it's": {dataset: INT, data: 1}
  rows: {dataset: {struct: {value: INT, where: point}}, shape: [3]}
  grid: {inner: {dataset: DOUBLE, shape: [3, 4]}, deep: {x: {dataset: INT, data: 1}}}
YAML
check "create" status 0 create -s sea.yaml sea.drep

offers() { # CANDIDATES WORD...: without what is said of them, one space between
    local got
    got=$(datarep __complete "${@:2}" 2> err | tr '\0' '\n' | cut -f2 | tr '\n' ' ')
    [ "$got" = "${1:+$1 }" ] && [ ! -s err ] || { echo "'$got', not '$1 '"; cat err; return 1; }
}

commands=$(datarep --help | sed -n 's/^  \([a-z]*\)  *[a-z].*/\1/p')
# shellcheck disable=SC2086 # words
check "the commands" offers "$(echo $commands) help" ""
check "a command" offers "dump" du
all_options() { # COMMAND: all that its help has
    datarep "$1" --help | grep -oE -- '^  (-., |    )--[a-z-]+' | grep -oE -- '--[a-z-]+' > want
    datarep __complete "$1" -- | tr '\0' '\n' | cut -f2 | tr -d = > got
    diff want got
}
for command in $commands; do
    check "$command: its options" all_options "$command"
done
check "an option that stands alone" offers "--list=" diff --lis
check "its values" offers "--origin=upper --origin=lower" plot sea.drep /sst --origin=
check "its values, one word on" offers "upper lower" plot sea.drep /sst --origin ""
check "representations" offers "native:m68k" import --datarep native:m6
check "letters with an argument at their end" offers ":files .yaml .yml" create -ns ""
check "files of a kind" offers ":files .drep" dump ""
check "any files" offers ":files" import ""
check "directories" offers ":dirs" dump --plugins=
check "help" offers "stat" help st
check "the root group" offers "/grid/ /it's /point /rows /sst /two words /#lat" dump sea.drep ""
check "a group" offers "/grid/deep/ /grid/inner" dump sea.drep /grid/
check "without the slash" offers "grid/" dump sea.drep g
check "behind options" offers "/sst" dump -H --width 3 sea.drep /s
check "behind two dashes" offers "/sst" dump -- sea.drep /s
check "of the second file" offers "/sst" diff cut.drep sea.drep /grid /s
check "several" offers "/sst" plot sea.drep /lat /grid/inner /s
check "members behind a selection" offers "/rows[0:2].value /rows[0:2].where" dump sea.drep "/rows[0:2]."
check "members of a member" offers "/rows[].where.x" dump sea.drep "/rows[].where."
check "what it is" sh -c "datarep __complete dump sea.drep /grid/i | grep -qzx '=DOUBLE \[3, 4\]	/grid/inner'"
check "a group goes on" sh -c "datarep __complete dump sea.drep /gr | grep -qzx '+group	/grid/'"
for file in cut.drep notes.txt nope pipe.drep folder; do
    check "nothing of $file" timeout 5 bash -c "$(declare -f offers); offers '' dump $file /"
done
check "programs for netCDF" offers "ncdump :files" netcdf ncd
check "behind them files" offers ":files" netcdf ncdump -
check "nothing behind the last operand" offers "" ls sea.drep /sst ""
check "no such command" offers "" nope ""
bash_gets() { # TEXT REPLACED LINE
    local got
    got=$(datarep __complete --bash "$2" "$3" | tr '\0' '\n' | cut -f2)
    [ "$got" = "$1" ] || { echo "'$got', not '$1'"; return 1; }
}
check "a line with quotes" bash_gets '/two words' '/two w' 'x | datarep dump "sea.drep" "/two w'
check "the end of a word" bash_gets 'sst' 's' 'datarep dump sea.drep "/"s'
check "what is replaced is no end of the line" bash_gets '' '/tw' 'datarep dump sea.drep /t'
check "behind a semicolon" bash_gets '/sst' '/s' 'ls;datarep dump sea.drep /s'
check "in a substitution" bash_gets '/sst' '/s' 'x=$(datarep dump sea.drep /s'
check "behind redirections" bash_gets '/sst' '/s' 'datarep dump 2>&1 >x sea.drep /s'
check "a redirection" bash_gets ':default' 's' 'datarep dump sea.drep > s'
check "what bash expands" bash_gets ':default' '$HOME/s' 'datarep ls $HOME/s'
check "files" bash_gets $':files\nsea.drep' 's' 'datarep ls s'
check "half an escape" bash_gets $':files\nsea.drep' 'se\' "datarep ls \$'se\\"
check "half a number" bash_gets $':files\nsea.drep' 's\14' "datarep ls \$'s\\14"


presses() { # SHELL LINE LINE-AFTERWARDS
    local got
    case $1 in
    bash) got=$(/usr/bin/python3 "$HERE/complete.py" bash ". '$scripts/datarep.bash'" "$2") ;;
    zsh) got=$(/usr/bin/python3 "$HERE/complete.py" zsh "fpath=('$scripts' \$fpath); compinit -u -D" "$2") ;;
    esac
    [ "$got" = "$3" ] || { echo "'$got', not '$3'"; return 1; }
}
for shell in bash zsh; do
    if ! command -v $shell > /dev/null; then
        skip "$shell" "$shell is not installed"
        continue
    fi
    check "$shell: a command" presses $shell "datarep du" "datarep dump "
    check "$shell: an option" presses $shell "datarep dump --hea" "datarep dump --header "
    check "$shell: an option with a value" presses $shell "datarep diff --lis" "datarep diff --list="
    check "$shell: its value" presses $shell "datarep plot --origin=u" "datarep plot --origin=upper "
    check "$shell: a value with a colon" presses $shell "datarep create --datarep native:m6" \
        "datarep create --datarep native:m68k "
    check "$shell: a value behind = with a colon" presses $shell "datarep create --datarep=native:m6" \
        "datarep create --datarep=native:m68k "
    check "$shell: a file" presses $shell "datarep ls se" "datarep ls sea.drep "
    check "$shell: a schema" presses $shell "datarep create -s se" "datarep create -s sea.yaml "
    check "$shell: any file" presses $shell "datarep import pic" "datarep import picture.h5 "
    check "$shell: a directory" presses $shell "datarep dump --plugins fo" "datarep dump --plugins folder/"
    check "$shell: a path in a file" presses $shell "datarep dump sea.drep /s" "datarep dump sea.drep /sst "
    check "$shell: a group in a file" presses $shell "datarep dump sea.drep /gr" "datarep dump sea.drep /grid/"
    check "$shell: in a group" presses $shell "datarep dump sea.drep /grid/i" "datarep dump sea.drep /grid/inner "
    check "$shell: a path with a space" presses $shell "datarep dump sea.drep /tw" 'datarep dump sea.drep /two\ words '
    check "$shell: half of it" presses $shell 'datarep dump sea.drep /two\ w' 'datarep dump sea.drep /two\ words '
    check "$shell: a path with a quote" presses $shell "datarep dump sea.drep /it" "datarep dump sea.drep /it\\'s "
    check "$shell: in a pipe" presses $shell "echo | datarep dump sea.drep /ss" "echo | datarep dump sea.drep /sst "
    check "$shell: the command by its path" presses $shell "../bin/datarep dump sea.drep /ss" \
        "../bin/datarep dump sea.drep /sst "
    check "$shell: nothing to complete" presses $shell "datarep dump cut.drep /s" "datarep dump cut.drep /s"
done
lists() { # TWO-TABS PATTERN
    /usr/bin/python3 "$HERE/complete.py" bash ". '$scripts/datarep.bash'" "$1" | grep -q -- "$2"
}
command -v bash > /dev/null && check "bash lists what fits" lists "$(printf 'datarep dump sea.drep /\t\t')" '/grid/.*/sst'

fish_offers() { # LINE CANDIDATES
    local got
    got=$(HOME=$tmp fish -N -c "source '$scripts/datarep.fish'; complete -C '$1'" | cut -f1 | tr '\n' ' ')
    [ "$got" = "$2 " ] || { echo "'$got', not '$2'"; return 1; }
}
if command -v fish > /dev/null; then
    check "fish: a command" fish_offers "datarep du" dump
    check "fish: an option" fish_offers "datarep dump --hea" --header
    check "fish: a value" fish_offers "datarep create --datarep=native:m6" --datarep=native:m68k
    check "fish: a file" fish_offers "datarep ls sea.d" sea.drep
    check "fish: a directory" fish_offers "datarep dump --plugins fo" folder/
    check "fish: a path in a file" fish_offers "datarep dump sea.drep /grid/" "/grid/deep/ /grid/inner"
    check "fish: a path with a space" fish_offers "datarep dump sea.drep /tw" "/two words"
    check "fish: an open quote" fish_offers 'datarep dump sea.drep "/two w' "/two words"
else
    skip fish "fish is not installed"
fi
done_testing
