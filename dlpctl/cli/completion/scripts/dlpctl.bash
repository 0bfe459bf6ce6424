# Completion of dlpctl for bash, from version 3.2; printed by 'dlpctl completions bash'.

_dlpctl() {
    local current=${COMP_WORDS[COMP_CWORD]} words=() word value help IFS=$'\n'
    # bash makes three words of --format=json.
    [[ $current == = ]] && current=
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        [[ $word == = ]] || words+=("$word")
    done
    COMPREPLY=()
    while IFS=$'\t' read -r value help; do
        case $value in
            :files)
                compopt -o filenames 2>/dev/null
                COMPREPLY+=($(compgen -f -- "$current"))
                ;;
            :list) compopt -o nospace 2>/dev/null ;;
            *) COMPREPLY+=("$value") ;;
        esac
    done < <(dlpctl __complete ${words[@]+"${words[@]}"} "=$current" 2>/dev/null)
}

complete -F _dlpctl dlpctl
