"""Completion for PowerShell, on every system that it runs on."""

from __future__ import annotations

from dlpctl.cli.completion.tree import FILES, Node, Value
from dlpctl.cli.completion.values import COMMAND

_HEAD = """# Completion of dlpctl for PowerShell, written by 'dlpctl completions powershell'.

Register-ArgumentCompleter -Native -CommandName dlpctl -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    # By command: its commands and options with what they do, what options take, and its arguments.
    $specs = @{
"""
_TAIL = """    }

    $words = @($commandAst.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursorPosition } |
        Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
    $path = ''
    $given = 0
    $previous = ''
    foreach ($word in $words) {
        $inner = "$path $word".Trim()
        if ($previous -and $specs[$path].valued.ContainsKey($previous)) { $previous = '' }
        elseif ($word.StartsWith('-')) { $previous = $word }
        elseif ($specs.ContainsKey($inner)) { $path = $inner; $previous = '' }
        else { $given++; $previous = '' }
    }
    $spec = $specs[$path]

    $kind = $null
    if ($previous -and $spec.valued.ContainsKey($previous)) { $kind = $spec.valued[$previous] }
    elseif ($wordToComplete.StartsWith('-')) { $found = $spec.options }
    elseif ($spec.commands.Count) { $found = $spec.commands }
    elseif ($spec.arguments.Count) {
        $at = [Math]::Min($given, $spec.arguments.Count - 1)
        $kind = $spec.arguments[$at]
    }
    if ($kind -eq '@files') { return }
    if ($kind -and $kind.StartsWith('@')) {
        $found = @{}
        foreach ($value in @(dlpctl COMMAND $kind.Substring(1) 2>$null)) { $found[$value] = $value }
    }
    elseif ($kind) {
        $found = @{}
        foreach ($value in $kind.Split(',')) { $found[$value] = $value }
    }
    if (-not $found) { return }
    $found.GetEnumerator() | Where-Object { $_.Key -like "$wordToComplete*" } | Sort-Object Key | ForEach-Object {
        [System.Management.Automation.CompletionResult]::new($_.Key, $_.Key, 'ParameterValue', $_.Value)
    }
}
""".replace("COMMAND", COMMAND)


def script(program: Node) -> str:
    return _HEAD + "".join(_spec(node) for node in program.walk()) + _TAIL


def _spec(node: Node) -> str:
    commands = {child.path[-1]: child.help for child in node.children}
    options = {name: option.help for option in node.options for name in option.names}
    valued = {
        name: _kind(option.value)
        for option in node.options
        if option.value is not None
        for name in option.names
    }
    arguments = ", ".join(_quoted(_kind(argument.value)) for argument in node.arguments)
    return (
        f"        {_quoted(' '.join(node.path))} = @{{\n"
        f"            commands = {_table(commands)}\n"
        f"            options = {_table(options)}\n"
        f"            valued = {_table(valued)}\n"
        f"            arguments = @({arguments})\n"
        "        }\n"
    )


def _kind(value: Value) -> str:
    if value.choices:
        return ",".join(value.choices)
    return "@files" if value.kind == FILES else f"@{value.kind}" if value.kind else ""


def _table(rows: dict[str, str]) -> str:
    listed = "; ".join(f"{_quoted(name)} = {_quoted(text or name)}" for name, text in rows.items())
    return f"@{{ {listed} }}" if rows else "@{}"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
