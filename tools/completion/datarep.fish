# datarep.fish - completion of datarep in fish, also of paths inside files.
#
# All comes from `datarep __complete`, in records that end with a NUL; fish quotes names for
# the quotes that are open.

# Files as fish lists them, one a line: without the pieces of names that hold a newline, and
# without names that would send control characters to the terminal.
function __fish_datarep_files
    while read -l line
        set -l name (string split -f 1 \t -- $line)
        string match -q -r '[\x{01}-\x{08}\x{0a}-\x{1f}\x{7f}-\x{9f}]' -- $line; and continue
        string match -q -r '^[~$]' -- $name; or test -e "$name"; or continue
        printf '%s\0' $line
    end
end

function __fish_datarep
    set -l words (commandline -opc)
    set -l now (commandline -ct)
    set -l command $words[1]
    set -e words[1]
    # A quote that is still open cannot be taken off by string unescape.
    set now (string unescape -- $now; or string trim -l -c '\'"' -- $now)
    for record in ($command __complete $words "$now" 2>/dev/null | string split0)
        switch $record
            case ':files*'
                set -l ends (string split -n ' ' -- (string sub -s 7 -- $record))
                # These first, then all others.
                set -q ends[1]; or set ends ''
                for end in $ends
                    __fish_complete_suffix $end | __fish_datarep_files
                end
            case ':dirs'
                __fish_complete_directories "$now" '' | __fish_datarep_files
            case ':*'
            case '*'
                # In quotes fish would put control characters on the line as they are.
                string match -q -r '[\x{01}-\x{08}\x{0a}-\x{1f}\x{7f}-\x{9f}]|\t.*\t' -- $record; and continue
                set -l parts (string split -m 1 \t -- (string sub -s 2 -- $record))
                printf '%s\t%s\0' $parts[2] $parts[1]
        end
    end
end

complete -c datarep -f -a '(__fish_datarep | string split0)'
