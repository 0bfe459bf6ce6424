# Completion of dlpctl for bash, written by 'dlpctl completions bash'.

# What the words so far ask for: commands, options, options with values and what these are, arguments.
_dlpctl_spec() {
    commands= options= valued= arguments=
    case $1 in
        '')
            commands='check mask unmask scan explain policy patterns config hook allow baseline completions doctor help init org group license token analytics audit db serve apply'
            options='-V --version -h --help'
            ;;
        'check')
            options='-d --destination -p --policy --operator -o --output --force -f --format --findings --decision-only -q --quiet --password --password-file --on-uninspected --before-after --patterns --org --api-key-file --server -h --help'
            valued='-d:@destinations --destination:@destinations -p:@policies --policy:@policies --operator:remove,redact,replace,hash,encrypt,token,surrogate,partial -o:@files --output:@files -f:human,json --format:human,json --password-file:@files --on-uninspected: --before-after:@files --patterns:@files --org:@organizations --api-key-file:@files --server:'
            arguments='@files...'
            ;;
        'mask')
            options='-d --destination -p --policy --operator --vault -o --output --force --stats --password --password-file --on-uninspected --before-after --patterns -h --help'
            valued='-d:@destinations --destination:@destinations -p:@policies --policy:@policies --operator:remove,redact,replace,hash,encrypt,token,surrogate,partial --vault:@files -o:@files --output:@files --password-file:@files --on-uninspected: --before-after:@files --patterns:@files'
            arguments='@files'
            ;;
        'unmask')
            options='--vault -o --output -h --help'
            valued='--vault:@files -o:@files --output:@files'
            arguments='@files'
            ;;
        'scan')
            options='--types -p --policy -d --destination --min-score --fail-on --staged --history --diff --include --exclude --no-ignore --no-names --max-size --baseline --no-archives --keep-going -j --jobs -f --format --report -v --verbose -q --quiet --show-values --patterns -h --help'
            valued='--types:@types+ -p:@policies --policy:@policies -d:@destinations --destination:@destinations --min-score: --fail-on: --diff: --include: --exclude: --max-size: --baseline:@files -j: --jobs: -f:human,json,jsonl,sarif,junit,github,gitlab,html,markdown --format:human,json,jsonl,sarif,junit,github,gitlab,html,markdown --report: --patterns:@files'
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
            options='-f --format --server -h --help'
            valued='-f:human,json --format:human,json --server:'
            arguments='@organizations @stored-policies'
            ;;
        'policy create')
            options='--group --active --inactive -f --format --server -h --help'
            valued='--group: -f:human,json --format:human,json --server:'
            arguments='@organizations @policies'
            ;;
        'policy update')
            options='--group --active --inactive -f --format --server -h --help'
            valued='--group: -f:human,json --format:human,json --server:'
            arguments='@organizations @stored-policies @policies'
            ;;
        'policy versions')
            options='-f --format --server -h --help'
            valued='-f:human,json --format:human,json --server:'
            arguments='@organizations @stored-policies'
            ;;
        'policy regenerate-key')
            options='-f --format --server -h --help'
            valued='-f:human,json --format:human,json --server:'
            arguments='@organizations @stored-policies'
            ;;
        'policy delete')
            options='-f --format --server -h --help'
            valued='-f:human,json --format:human,json --server:'
            arguments='@organizations @stored-policies'
            ;;
        'patterns')
            commands='list types stats show test'
            options='-h --help'
            ;;
        'patterns list')
            options='--category --type --search -f --format --patterns -h --help'
            valued='--category:@categories --type:@types+ --search: -f:human,json --format:human,json --patterns:@files'
            ;;
        'patterns types')
            options='--category -f --format -h --help'
            valued='--category:@categories -f:human,json --format:human,json'
            ;;
        'patterns stats')
            options='--seed -f --format --patterns -h --help'
            valued='--seed: -f:human,json --format:human,json --patterns:@files'
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
        'hook')
            commands='install uninstall run show'
            options='-h --help'
            ;;
        'hook install')
            options='--types -h --help'
            valued='--types:@types+'
            arguments='git'
            ;;
        'hook uninstall')
            options='-h --help'
            arguments='git'
            ;;
        'hook run')
            options='--types -h --help'
            valued='--types:@types+'
            arguments='@files...'
            ;;
        'hook show')
            options='--install-from -h --help'
            valued='--install-from:'
            arguments='git,pre-commit,github,gitlab'
            ;;
        'allow')
            options='--reason --owner --expires --types --baseline -f --format -h --help'
            valued='--reason: --owner: --expires: --types:@types+ --baseline:@files -f:human,json --format:human,json'
            arguments='-'
            ;;
        'baseline')
            commands='create update audit prune import'
            options='-h --help'
            ;;
        'baseline create')
            options='--baseline --owner --reason --expires --types --min-score -d --destination --with-paths -f --format -h --help'
            valued='--baseline:@files --owner: --reason: --expires: --types:@types+ --min-score: -d:@destinations --destination:@destinations -f:human,json --format:human,json'
            arguments='@files...'
            ;;
        'baseline update')
            options='--baseline --owner --reason --expires --types --min-score -d --destination --with-paths --renew -f --format -h --help'
            valued='--baseline:@files --owner: --reason: --expires: --types:@types+ --min-score: -d:@destinations --destination:@destinations -f:human,json --format:human,json'
            arguments='@files...'
            ;;
        'baseline audit')
            options='--baseline -f --format -h --help'
            valued='--baseline:@files -f:human,json --format:human,json'
            arguments='@files...'
            ;;
        'baseline prune')
            options='--baseline --unused -f --format -h --help'
            valued='--baseline:@files -f:human,json --format:human,json'
            ;;
        'baseline import')
            options='--baseline --owner --expires -f --format -h --help'
            valued='--baseline:@files --owner: --expires: -f:human,json --format:human,json'
            arguments='@files'
            ;;
        'completions')
            options='-h --help'
            arguments='bash,zsh,fish,powershell,install bash,zsh,fish,powershell'
            ;;
        'doctor')
            options='-f --format -h --help'
            valued='-f:human,json --format:human,json'
            ;;
        'help')
            options='-h --help'
            arguments='baselines,ci,commands,configuration,daemon,environment,exit-codes,files,library,limits,patterns,policies,pre-commit,prompts,security,shell,types,vendors'
            ;;
        'init')
            options='--org --slug -f --format --server -h --help'
            valued='--org:@organizations --slug: -f:human,json --format:human,json --server:'
            ;;
        'org')
            commands='list create show update delete'
            options='-h --help'
            ;;
        'org list')
            options='-f --format --server -h --help'
            valued='-f:human,json --format:human,json --server:'
            ;;
        'org create')
            options='--slug --set -f --format --server -h --help'
            valued='--slug: --set: -f:human,json --format:human,json --server:'
            arguments='-'
            ;;
        'org show')
            options='-f --format --server -h --help'
            valued='-f:human,json --format:human,json --server:'
            arguments='@organizations'
            ;;
        'org update')
            options='--name --set -f --format --server -h --help'
            valued='--name: --set: -f:human,json --format:human,json --server:'
            arguments='@organizations'
            ;;
        'org delete')
            options='--yes -f --format --server -h --help'
            valued='-f:human,json --format:human,json --server:'
            arguments='@organizations'
            ;;
        'group')
            commands='list create show update delete'
            options='-h --help'
            ;;
        'group list')
            options='-f --format --server -h --help'
            valued='-f:human,json --format:human,json --server:'
            arguments='@organizations'
            ;;
        'group create')
            options='--description --policy -f --format --server -h --help'
            valued='--description: --policy:@stored-policies -f:human,json --format:human,json --server:'
            arguments='@organizations -'
            ;;
        'group show')
            options='-f --format --server -h --help'
            valued='-f:human,json --format:human,json --server:'
            arguments='@organizations -'
            ;;
        'group update')
            options='--name --description --policy -f --format --server -h --help'
            valued='--name: --description: --policy:@stored-policies -f:human,json --format:human,json --server:'
            arguments='@organizations -'
            ;;
        'group delete')
            options='-f --format --server -h --help'
            valued='-f:human,json --format:human,json --server:'
            arguments='@organizations -'
            ;;
        'license')
            commands='list create extend revoke validate public-key rotate-keys'
            options='-h --help'
            ;;
        'license list')
            options='-f --format --server -h --help'
            valued='-f:human,json --format:human,json --server:'
            arguments='@organizations'
            ;;
        'license create')
            options='--type --expires --checks --group -f --format --server -h --help'
            valued='--type: --expires: --checks: --group: -f:human,json --format:human,json --server:'
            arguments='@organizations'
            ;;
        'license extend')
            options='--type --expires --checks -f --format --server -h --help'
            valued='--type: --expires: --checks: -f:human,json --format:human,json --server:'
            arguments='@organizations -'
            ;;
        'license revoke')
            options='-f --format --server -h --help'
            valued='-f:human,json --format:human,json --server:'
            arguments='@organizations -'
            ;;
        'license validate')
            options='--key -f --format --server -h --help'
            valued='--key: -f:human,json --format:human,json --server:'
            ;;
        'license public-key')
            options='--key-id -f --format --server -h --help'
            valued='--key-id: -f:human,json --format:human,json --server:'
            ;;
        'license rotate-keys')
            options='-f --format --server -h --help'
            valued='-f:human,json --format:human,json --server:'
            ;;
        'token')
            commands='list create revoke'
            options='-h --help'
            ;;
        'token list')
            options='-f --format --server -h --help'
            valued='-f:human,json --format:human,json --server:'
            ;;
        'token create')
            options='--role --org --name --expires -f --format --server -h --help'
            valued='--role: --org:@organizations --name: --expires: -f:human,json --format:human,json --server:'
            ;;
        'token revoke')
            options='-f --format --server -h --help'
            valued='-f:human,json --format:human,json --server:'
            arguments='-'
            ;;
        'analytics')
            options='--period -f --format --server -h --help'
            valued='--period: -f:human,json --format:human,json --server:'
            arguments='@organizations'
            ;;
        'audit')
            commands='list export verify'
            options='-h --help'
            ;;
        'audit list')
            options='--org --search --limit --offset -f --format --server -h --help'
            valued='--org:@organizations --search: --limit: --offset: -f:human,json --format:human,json --server:'
            ;;
        'audit export')
            options='--org --search -f --format -o --output --server -h --help'
            valued='--org:@organizations --search: -f:jsonl,csv --format:jsonl,csv -o:@files --output:@files --server:'
            ;;
        'audit verify')
            options='-f --format --server -h --help'
            valued='-f:human,json --format:human,json --server:'
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
        'serve')
            options='--host --port --unix-socket --allow-remote --trusted-proxy -h --help'
            valued='--host: --port: --unix-socket:@files --trusted-proxy:'
            ;;
        'apply')
            options='-f --file --dry-run --format --server -h --help'
            valued='-f:@files --file:@files --format:human,json --server:'
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
