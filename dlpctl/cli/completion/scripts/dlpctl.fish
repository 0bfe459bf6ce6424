# Completion of dlpctl for fish; printed by 'dlpctl completions fish'.

function __dlpctl_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in (dlpctl __complete $words[2..-1] "=$current" 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path $current
            case :list
            case '*'
                echo $line
        end
    end
end

complete -c dlpctl -f -a '(__dlpctl_complete)'
