# Completion of dlpctl for PowerShell; printed by 'dlpctl completions powershell'.

Register-ArgumentCompleter -Native -CommandName dlpctl -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $words = @($commandAst.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursorPosition } |
        Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
    # Where nothing is returned, PowerShell completes files itself.
    foreach ($line in @(dlpctl __complete @words "=$wordToComplete" 2>$null)) {
        $value, $help = $line -split "`t", 2
        if ($value -and -not $value.StartsWith(':')) {
            if (-not $help) { $help = $value }
            [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $help)
        }
    }
}
