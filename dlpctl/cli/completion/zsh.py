"""Completion for zsh, with descriptions."""

from __future__ import annotations

import re

from dlpctl.cli.completion.tree import FILES, LISTS, Node, Option, Value
from dlpctl.cli.completion.values import COMMAND

_HEAD = """#compdef dlpctl
# Completion of dlpctl for zsh, written by 'dlpctl completions zsh'.

_dlpctl_values() {
    local -a found
    found=(${(f)"$(dlpctl COMMAND $1 2>/dev/null)"})
    _wanted values expl $1 compadd -a found
}

_dlpctl_list() {
    local -a found
    found=(${(f)"$(dlpctl COMMAND $1 2>/dev/null)"})
    _sequence compadd - $found
}

_dlpctl_policies() {
    _alternative 'policies:policy: _dlpctl_values policies' 'files:file:_files'
}
""".replace("COMMAND", COMMAND)
_TAIL = """
if [[ $funcstack[1] == _dlpctl ]]; then
    _dlpctl "$@"
else
    compdef _dlpctl dlpctl
fi
"""


def script(program: Node) -> str:
    return _HEAD + "".join(_function(node) for node in program.walk()) + _TAIL


def _function(node: Node) -> str:
    name = "_".join(("_dlpctl", *node.path)).replace("-", "_")
    specs = [spec for option in node.options for spec in _option(option)]
    if not node.children:
        specs += [
            _shell(f"{'*' if one.repeats else ':'}:{_text(one.name)}:{_action(one.value)}")
            for one in node.arguments
        ]
        listed = "".join(f" \\\n        {spec}" for spec in specs)
        return f"\n{name}() {{\n    _arguments -s -S{listed}\n}}\n"
    listed = "".join(f" \\\n        {spec}" for spec in [*specs, "'1: :->command'", "'*:: :->words'"])
    commands = "".join(
        f"                {_shell(f'{child.path[-1]}:{child.help}')}\n" for child in node.children
    )
    cases = "".join(
        f"                {child.path[-1]}) {name}_{child.path[-1].replace('-', '_')} ;;\n"
        for child in node.children
    )
    return f"""
{name}() {{
    local state context line
    typeset -A opt_args
    _arguments -C -S{listed}
    case $state in
        command)
            local -a commands
            commands=(
{commands}            )
            _describe -t commands command commands
            ;;
        words)
            case $words[1] in
{cases}            esac
            ;;
    esac
}}
"""


def _option(option: Option) -> list[str]:
    value = (
        ""
        if option.value is None
        else f":{_text(option.names[-1].lstrip('-'))}:{_action(option.value, many=True)}"
    )
    others = "*" if option.repeats else f"({' '.join(option.names)})"
    return [_shell(f"{others}{name}[{_text(option.help)}]{value}") for name in option.names]


def _action(value: Value, *, many: bool = False) -> str:
    if value.choices:
        return f"({' '.join(value.choices)})"
    if value.kind == FILES:
        return "_files"
    if value.kind == "policies":
        return "_dlpctl_policies"
    if not value.kind:
        return " "
    # The space keeps zsh from putting options of its own in front of ours.
    return f" _dlpctl_{'list' if many and value.kind in LISTS else 'values'} {value.kind}"


def _text(text: str) -> str:
    return re.sub(r"([\[\]:\\])", r"\\\1", text)


def _shell(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
