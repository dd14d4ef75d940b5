# datarep.bash - completion of datarep in bash, also of paths inside files.
# shellcheck shell=bash
#
# All comes from `datarep __complete`; bash cuts words at = and :, so what stands before
# the last of these is taken off again.

_datarep() {
    local cur=${COMP_WORDS[COMP_CWORD]} word='' line patterns='' files='' cut
    local -a found=()

    # An open quote is not part of what is replaced.
    cur=${cur#[\"\']}
    COMPREPLY=()
    while IFS= read -r line; do
        case $line in
        :word*) word=${line#:word } ;;
        :nospace) compopt -o nospace ;;
        :files*) files=files patterns=${line#:files} ;;
        :dirs) files=dirs ;;
        *) found+=("${line%%$'\t'*}") ;;
        esac
    done < <("${COMP_WORDS[0]/#\~/$HOME}" __complete --line "${COMP_LINE:0:COMP_POINT}" 2> /dev/null)
    if [ -n "$files" ]; then
        _datarep_files "$files" "$patterns" "$cur"
        return
    fi
    cut=${word%"${cur//\\/}"}
    for line in "${found[@]}"; do
        line=${line#"$cut"}
        # Inside quotes nothing needs to be quoted.
        [[ ${COMP_WORDS[COMP_CWORD]} == [\"\']* ]] || printf -v line %q "$line"
        COMPREPLY+=("$line")
    done
}

# Names of files that end as wanted, and directories; any file where there is none.
_datarep_files() { # KIND ENDS WORD
    local name end
    local -a all=()

    compopt -o filenames
    mapfile -t all < <(compgen -f -- "$3")
    for name in "${all[@]}"; do
        if [ -d "$name" ]; then
            COMPREPLY+=("$name")
            continue
        fi
        for end in $2; do
            [[ $1 == files && $name == *"$end" ]] && COMPREPLY+=("$name")
        done
    done
    if [[ $1 == files && (-z $2 || ${#COMPREPLY[@]} -eq 0) ]]; then
        COMPREPLY=("${all[@]}")
    fi
}

complete -F _datarep datarep
