# datarep.bash - completion of datarep in bash, also of paths inside files.
# shellcheck shell=bash
#
# All comes from `datarep __complete`: it knows which end of the word readline replaces ($2)
# and quotes the candidates for the quotes that are open there.

_datarep() {
    local record folder files=''

    COMPREPLY=()
    while IFS= read -r -d '' record; do
        case $record in
        :default) compopt -o default ;;
        :files) files=files ;;
        [=+]*)
            [[ $record == +* ]] && compopt -o nospace
            COMPREPLY+=("${record#*$'\t'}")
            ;;
        esac
    done < <("${COMP_WORDS[0]/#\~/$HOME}" __complete --bash "$2" "${COMP_LINE:0:COMP_POINT}" 2> /dev/null)

    # A list (63: nothing is inserted) shows files without their directory.
    if [[ $files && $COMP_TYPE == 63 ]]; then
        folder=${COMPREPLY[0]%/}
        folder=${folder%"${folder##*/}"}
        COMPREPLY=("${COMPREPLY[@]#"$folder"}")
    fi
}

complete -F _datarep datarep
