# Completion of dlpctl for bash, written by 'dlpctl completions bash'.

# What the words so far ask for: commands, options, options with values and what these are, arguments.
_dlpctl_spec() {
    commands= options= valued= arguments=
    case $1 in
        '')
            commands='check mask unmask scan explain policy patterns config completions init org group license token analytics audit db apply'
            options='-V --version -h --help'
            ;;
        'check')
            options='-d --destination -p --policy --operator -o --output -f --format --findings --decision-only --patterns -h --help'
            valued='-d:@destinations --destination:@destinations -p:@policies --policy:@policies --operator:remove,redact,replace,hash,encrypt,token,surrogate,partial -o:@files --output:@files -f:human,json --format:human,json --patterns:@files'
            arguments='@files...'
            ;;
        'mask')
            options='-d --destination -p --policy --operator --vault -o --output --stats --patterns -h --help'
            valued='-d:@destinations --destination:@destinations -p:@policies --policy:@policies --operator:remove,redact,replace,hash,encrypt,token,surrogate,partial --vault:@files -o:@files --output:@files --patterns:@files'
            arguments='@files'
            ;;
        'unmask')
            options='--vault -o --output -h --help'
            valued='--vault:@files -o:@files --output:@files'
            arguments='@files'
            ;;
        'scan')
            options='--types --min-score --fail-on -f --format --show-values --patterns -h --help'
            valued='--types:@types+ --min-score: --fail-on: -f:human,json,jsonl --format:human,json,jsonl --patterns:@files'
            arguments='@files...'
            ;;
        'explain')
            options='--min-score --misses -f --format --patterns -h --help'
            valued='--min-score: --misses: -f:human,json --format:human,json --patterns:@files'
            arguments='@files'
            ;;
        'policy')
            commands='list show lint test diff stored create update versions regenerate-key delete'
            options='-h --help'
            ;;
        'policy list')
            options='-f --format -h --help'
            valued='-f:human,json --format:human,json'
            ;;
        'policy show')
            options='-f --format -h --help'
            valued='-f:human,json --format:human,json'
            arguments='@policies'
            ;;
        'policy lint')
            options='-f --format -h --help'
            valued='-f:human,json --format:human,json'
            arguments='@policies'
            ;;
        'policy test')
            options='--cases -f --format -h --help'
            valued='--cases:@files -f:human,json --format:human,json'
            arguments='@policies'
            ;;
        'policy diff')
            options='--corpus -f --format -h --help'
            valued='--corpus:@files -f:human,json --format:human,json'
            arguments='@policies @policies'
            ;;
        'policy stored')
            options='-f --format -h --help'
            valued='-f:human,json --format:human,json'
            arguments='@organizations @stored-policies'
            ;;
        'policy create')
            options='--group --active --inactive -f --format -h --help'
            valued='--group: -f:human,json --format:human,json'
            arguments='@organizations @policies'
            ;;
        'policy update')
            options='--group --active --inactive -f --format -h --help'
            valued='--group: -f:human,json --format:human,json'
            arguments='@organizations @stored-policies @policies'
            ;;
        'policy versions')
            options='-f --format -h --help'
            valued='-f:human,json --format:human,json'
            arguments='@organizations @stored-policies'
            ;;
        'policy regenerate-key')
            options='-f --format -h --help'
            valued='-f:human,json --format:human,json'
            arguments='@organizations @stored-policies'
            ;;
        'policy delete')
            options='-f --format -h --help'
            valued='-f:human,json --format:human,json'
            arguments='@organizations @stored-policies'
            ;;
        'patterns')
            commands='list show test'
            options='-h --help'
            ;;
        'patterns list')
            options='--category --type --search -f --format --patterns -h --help'
            valued='--category:@categories --type:@types+ --search: -f:human,json --format:human,json --patterns:@files'
            ;;
        'patterns show')
            options='-f --format --patterns -h --help'
            valued='-f:human,json --format:human,json --patterns:@files'
            arguments='-'
            ;;
        'patterns test')
            options='-f --format -h --help'
            valued='-f:human,json --format:human,json'
            arguments='@files...'
            ;;
        'config')
            commands='show path'
            options='-h --help'
            ;;
        'config show')
            options='-f --format -h --help'
            valued='-f:human,json --format:human,json'
            ;;
        'config path')
            options='-f --format -h --help'
            valued='-f:human,json --format:human,json'
            arguments='project,user,config,data,cache'
            ;;
        'completions')
            options='-h --help'
            arguments='bash,zsh,fish,powershell,install bash,zsh,fish,powershell'
            ;;
        'init')
            options='--org --slug -f --format -h --help'
            valued='--org:@organizations --slug: -f:human,json --format:human,json'
            ;;
        'org')
            commands='list create show update delete'
            options='-h --help'
            ;;
        'org list')
            options='-f --format -h --help'
            valued='-f:human,json --format:human,json'
            ;;
        'org create')
            options='--slug --set -f --format -h --help'
            valued='--slug: --set: -f:human,json --format:human,json'
            arguments='-'
            ;;
        'org show')
            options='-f --format -h --help'
            valued='-f:human,json --format:human,json'
            arguments='@organizations'
            ;;
        'org update')
            options='--name --set -f --format -h --help'
            valued='--name: --set: -f:human,json --format:human,json'
            arguments='@organizations'
            ;;
        'org delete')
            options='--yes -f --format -h --help'
            valued='-f:human,json --format:human,json'
            arguments='@organizations'
            ;;
        'group')
            commands='list create show update delete'
            options='-h --help'
            ;;
        'group list')
            options='-f --format -h --help'
            valued='-f:human,json --format:human,json'
            arguments='@organizations'
            ;;
        'group create')
            options='--description --policy -f --format -h --help'
            valued='--description: --policy:@stored-policies -f:human,json --format:human,json'
            arguments='@organizations -'
            ;;
        'group show')
            options='-f --format -h --help'
            valued='-f:human,json --format:human,json'
            arguments='@organizations -'
            ;;
        'group update')
            options='--name --description --policy -f --format -h --help'
            valued='--name: --description: --policy:@stored-policies -f:human,json --format:human,json'
            arguments='@organizations -'
            ;;
        'group delete')
            options='-f --format -h --help'
            valued='-f:human,json --format:human,json'
            arguments='@organizations -'
            ;;
        'license')
            commands='list create extend revoke validate public-key rotate-keys'
            options='-h --help'
            ;;
        'license list')
            options='-f --format -h --help'
            valued='-f:human,json --format:human,json'
            arguments='@organizations'
            ;;
        'license create')
            options='--type --expires --checks --group -f --format -h --help'
            valued='--type: --expires: --checks: --group: -f:human,json --format:human,json'
            arguments='@organizations'
            ;;
        'license extend')
            options='--type --expires --checks -f --format -h --help'
            valued='--type: --expires: --checks: -f:human,json --format:human,json'
            arguments='@organizations -'
            ;;
        'license revoke')
            options='-f --format -h --help'
            valued='-f:human,json --format:human,json'
            arguments='@organizations -'
            ;;
        'license validate')
            options='--key -f --format -h --help'
            valued='--key: -f:human,json --format:human,json'
            ;;
        'license public-key')
            options='--key-id -f --format -h --help'
            valued='--key-id: -f:human,json --format:human,json'
            ;;
        'license rotate-keys')
            options='-f --format -h --help'
            valued='-f:human,json --format:human,json'
            ;;
        'token')
            commands='list create revoke'
            options='-h --help'
            ;;
        'token list')
            options='-f --format -h --help'
            valued='-f:human,json --format:human,json'
            ;;
        'token create')
            options='--role --org --name --expires -f --format -h --help'
            valued='--role: --org:@organizations --name: --expires: -f:human,json --format:human,json'
            ;;
        'token revoke')
            options='-f --format -h --help'
            valued='-f:human,json --format:human,json'
            arguments='-'
            ;;
        'analytics')
            options='--period -f --format -h --help'
            valued='--period: -f:human,json --format:human,json'
            arguments='@organizations'
            ;;
        'audit')
            commands='list export verify'
            options='-h --help'
            ;;
        'audit list')
            options='--org --search --limit --offset -f --format -h --help'
            valued='--org:@organizations --search: --limit: --offset: -f:human,json --format:human,json'
            ;;
        'audit export')
            options='--org --search -f --format -o --output -h --help'
            valued='--org:@organizations --search: -f:jsonl,csv --format:jsonl,csv -o:@files --output:@files'
            ;;
        'audit verify')
            options='-f --format -h --help'
            valued='-f:human,json --format:human,json'
            ;;
        'db')
            commands='check backup restore vacuum prune'
            options='-h --help'
            ;;
        'db check')
            options='-f --format -h --help'
            valued='-f:human,json --format:human,json'
            ;;
        'db backup')
            options='-f --format -h --help'
            valued='-f:human,json --format:human,json'
            arguments='@files'
            ;;
        'db restore')
            options='--yes -f --format -h --help'
            valued='-f:human,json --format:human,json'
            arguments='@files'
            ;;
        'db vacuum')
            options='-f --format -h --help'
            valued='-f:human,json --format:human,json'
            ;;
        'db prune')
            options='--older-than -f --format -h --help'
            valued='--older-than: -f:human,json --format:human,json'
            ;;
        'apply')
            options='-f --file --dry-run --format -h --help'
            valued='-f:@files --file:@files --format:human,json'
            ;;
    esac
}

# Fills COMPREPLY with values of a kind.
_dlpctl_values() {
    local IFS=$'\n' head=
    case $1 in
        '') ;;
        @files) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$cur")) ;;
        @policies)
            compopt -o filenames 2>/dev/null
            COMPREPLY=($(compgen -W "$(dlpctl __complete policies 2>/dev/null)" -- "$cur") $(compgen -f -- "$cur")) ;;
        @*+)
            [[ $cur == *,* ]] && head=${cur%,*},
            compopt -o nospace 2>/dev/null
            COMPREPLY=($(compgen -P "$head" -W "$(dlpctl __complete "${1:1:${#1}-2}" 2>/dev/null)" -- "${cur##*,}")) ;;
        @*) COMPREPLY=($(compgen -W "$(dlpctl __complete "${1#@}" 2>/dev/null)" -- "$cur")) ;;
        *) COMPREPLY=($(compgen -W "${1//,/$IFS}" -- "$cur")) ;;
    esac
}

_dlpctl() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} path= word kind i given=0
    local commands options valued arguments
    COMPREPLY=()
    if [[ $cur == = ]]; then
        cur=
    elif [[ $prev == = ]]; then
        prev=${COMP_WORDS[COMP_CWORD-2]}
    fi
    _dlpctl_spec "$path"
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ $word == -?* ]]; then
            if [[ ${COMP_WORDS[i+1]} == = ]]; then ((i += 2)); elif [[ " $valued" == *" $word:"* ]]; then ((i++)); fi
        elif [[ " $commands " == *" $word "* ]]; then
            path=${path:+$path }$word
            _dlpctl_spec "$path"
        else
            ((given++))
        fi
    done
    for kind in $valued; do
        if [[ $prev == "${kind%%:*}" ]]; then
            _dlpctl_values "${kind#*:}"
            return
        fi
    done
    if [[ $cur == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$cur"))
    elif [[ $commands ]]; then
        COMPREPLY=($(compgen -W "$commands" -- "$cur"))
    else
        for kind in $arguments; do
            if [[ $kind == *... ]] || ((given-- == 0)); then
                _dlpctl_values "${kind%...}"
                [[ ${kind%...} == - ]] && COMPREPLY=()
                return
            fi
        done
    fi
}

complete -F _dlpctl dlpctl
