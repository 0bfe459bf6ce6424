"""Completion for fish."""

from __future__ import annotations

from dlpctl.cli.completion.tree import FILES, LISTS, Node, Option, Value
from dlpctl.cli.completion.values import COMMAND

_HEAD = """# Completion of dlpctl for fish, written by 'dlpctl completions fish'.

# Whether the words before the cursor are in this command, and in no command below it.
function __dlpctl_at
    set -l words (commandline -opc | string match -v -- '-*')
    test (count $words) -gt (count $argv); or return 1
    for i in (seq (count $argv))
        test $words[(math $i + 1)] = $argv[$i]; or return 1
    end
end

function __dlpctl_exactly
    set -l words (commandline -opc | string match -v -- '-*')
    test (count $words) -eq (math (count $argv) + 1); and __dlpctl_at $argv
end

function __dlpctl_list
    set -l before (commandline -ct | string match -r -- '^.*,'); or set before ''
    for value in (dlpctl COMMAND $argv)
        echo $before$value
    end
end

complete -c dlpctl -f
""".replace("COMMAND", COMMAND)


def script(program: Node) -> str:
    return _HEAD + "".join(line for node in program.walk() for line in _lines(node))


def _lines(node: Node) -> list[str]:
    path = " ".join(node.path)
    at = f"__dlpctl_at {path}" if path and not node.children else f"__dlpctl_exactly {path}".rstrip()
    begin = f"complete -c dlpctl -n {_quoted(at)}"
    lines = [f"\n# dlpctl {path}".rstrip() + "\n"]
    lines += [f"{begin} -a {child.path[-1]} -d {_quoted(child.help)}\n" for child in node.children]
    lines += [f"{begin}{_option(option)}\n" for option in node.options]
    kinds = dict.fromkeys(_candidates(argument.value) for argument in node.arguments)
    lines += [f"{begin}{kind}\n" for kind in kinds if kind]
    return lines


def _option(option: Option) -> str:
    names = "".join(
        f" -l {name[2:]}" if name.startswith("--") else f" -s {name[1:]}" for name in option.names
    )
    if option.value is None:
        taken = ""
    elif kind := _candidates(option.value, many=True):
        taken = f" -r{kind}"
    else:
        taken = " -x"
    return f"{names}{taken} -d {_quoted(option.help)}"


def _candidates(value: Value, *, many: bool = False) -> str:
    if value.choices:
        return f" -f -a {_quoted(' '.join(value.choices))}"
    if value.kind == FILES:
        return " -F"
    if not value.kind:
        return ""
    how = "__dlpctl_list" if many and value.kind in LISTS else f"dlpctl {COMMAND}"
    return f" {'-F' if value.kind == 'policies' else '-f'} -a {_quoted(f'({how} {value.kind})')}"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
