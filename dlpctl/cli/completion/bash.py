"""Completion for bash, from version 3.2 on, with or without the package bash-completion."""

from __future__ import annotations

from dlpctl.cli.completion.tree import FILES, LISTS, Node, Value
from dlpctl.cli.completion.values import COMMAND

_HEAD = """# Completion of dlpctl for bash, written by 'dlpctl completions bash'.

# What the words so far ask for: commands, options, options with values and what these are, arguments.
_dlpctl_spec() {
    commands= options= valued= arguments=
    case $1 in
"""
_TAIL = """    esac
}

# Fills COMPREPLY with values of a kind.
_dlpctl_values() {
    local IFS=$'\\n' head=
    case $1 in
        '') ;;
        @files) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$cur")) ;;
        @policies)
            compopt -o filenames 2>/dev/null
            COMPREPLY=($(compgen -W "$(dlpctl COMMAND policies 2>/dev/null)" -- "$cur") $(compgen -f -- "$cur")) ;;
        @*+)
            [[ $cur == *,* ]] && head=${cur%,*},
            compopt -o nospace 2>/dev/null
            COMPREPLY=($(compgen -P "$head" -W "$(dlpctl COMMAND "${1:1:${#1}-2}" 2>/dev/null)" -- "${cur##*,}")) ;;
        @*) COMPREPLY=($(compgen -W "$(dlpctl COMMAND "${1#@}" 2>/dev/null)" -- "$cur")) ;;
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
""".replace("COMMAND", COMMAND)


def script(program: Node) -> str:
    return _HEAD + "".join(_case(node) for node in program.walk()) + _TAIL


def _case(node: Node) -> str:
    names = [name for option in node.options for name in option.names]
    valued = [
        f"{name}:{_kind(option.value, many=True)}"
        for option in node.options
        if option.value is not None
        for name in option.names
    ]
    arguments = [
        (_kind(argument.value) or "-") + ("..." if argument.repeats else "") for argument in node.arguments
    ]
    parts = {
        "commands": [child.path[-1] for child in node.children],
        "options": names,
        "valued": valued,
        "arguments": arguments,
    }
    lines = "".join(f"            {name}='{' '.join(words)}'\n" for name, words in parts.items() if words)
    return f"        '{' '.join(node.path)}')\n{lines}            ;;\n"


def _kind(value: Value, *, many: bool = False) -> str:
    if value.choices:
        return ",".join(value.choices)
    if not value.kind:
        return ""
    return f"@{value.kind}{'+' if many and value.kind in LISTS else ''}" if value.kind != FILES else "@files"
