# datarep.fish - completion of datarep in fish, also of paths inside files.
#
# All comes from `datarep __complete`.

function __fish_datarep
    set -l words (commandline -opc)
    set -l now (commandline -ct)
    set -l command $words[1]
    set -e words[1]
    # A quote that is still open cannot be taken off by string unescape.
    set now (string unescape -- $now; or string trim -l -c '\'"' -- $now)
    for line in ($command __complete $words "$now" 2>/dev/null)
        switch $line
            case ':files*'
                set -l ends (string split -n ' ' -- (string sub -s 7 -- $line))
                # These first, then all others.
                set -q ends[1]; or set ends ''
                for end in $ends
                    __fish_complete_suffix $end
                end
            case ':dirs'
                __fish_complete_directories "$now" ''
            case ':*'
            case '*'
                printf '%s\n' $line
        end
    end
end

complete -c datarep -f -a '(__fish_datarep)'
