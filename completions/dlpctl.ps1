# Completion of dlpctl for PowerShell, written by 'dlpctl completions powershell'.

Register-ArgumentCompleter -Native -CommandName dlpctl -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    # By command: its commands and options with what they do, what options take, and its arguments.
    $specs = @{
        '' = @{
            commands = @{ 'check' = 'decide whether content may go to a destination'; 'mask' = 'mask content, as a filter'; 'unmask' = 'restore masked tokens'; 'scan' = 'find sensitive data in files'; 'explain' = 'say why something is found, or is not'; 'policy' = 'look into policies'; 'patterns' = 'list, show and test patterns'; 'config' = 'show settings and where they come from'; 'hook' = 'keep secrets and sensitive data out of commits and pipelines'; 'allow' = 'accept one finding, for a reason and for a time'; 'baseline' = 'accept all that is found now, and look after what is accepted'; 'completions' = 'complete commands in a shell'; 'doctor' = 'say what is wrong with this installation, and what mends it'; 'help' = 'explain a topic'; 'init' = 'make a control plane to begin with'; 'org' = 'administer organizations'; 'group' = 'administer policy groups'; 'license' = 'administer and validate licenses'; 'token' = 'administer admin tokens'; 'analytics' = 'show what the checks came to'; 'audit' = 'search, export and verify the log of checks'; 'db' = 'look after the database'; 'serve' = 'answer checks over HTTP'; 'apply' = 'create and change organizations as a file says' }
            options = @{ '-V' = 'Print the version'; '--version' = 'Print the version'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{}
            arguments = @()
        }
        'check' = @{
            commands = @{}
            options = @{ '-d' = 'Where the content goes'; '--destination' = 'Where the content goes'; '-p' = 'A policy file, or the name of a built-in policy'; '--policy' = 'A policy file, or the name of a built-in policy'; '--operator' = 'How to mask'; '-o' = 'Write the masked copy here'; '--output' = 'Write the masked copy here'; '--force' = 'Write over a file that is there already'; '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '--findings' = 'List every finding in the JSON.'; '--decision-only' = 'Print the decision alone'; '-q' = 'Print nothing'; '--quiet' = 'Print nothing'; '--password' = 'Ask for the password of an encrypted file'; '--password-file' = 'Read that password from a file'; '--on-uninspected' = 'What it means that a part of a file cannot be read, such as a picture'; '--before-after' = 'Draw the pages of a PDF that masking changed, before and after, for your eyes'; '--patterns' = 'Further patterns'; '--org' = 'Check by a policy of this organization, in its log and quota'; '--api-key-file' = 'The key of the policy to check by'; '--server' = 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '-d' = '@destinations'; '--destination' = '@destinations'; '-p' = '@policies'; '--policy' = '@policies'; '--operator' = 'remove,redact,replace,hash,encrypt,token,surrogate,partial'; '-o' = '@files'; '--output' = '@files'; '-f' = 'human,json'; '--format' = 'human,json'; '--password-file' = '@files'; '--on-uninspected' = '--on-uninspected'; '--before-after' = '@files'; '--patterns' = '@files'; '--org' = '@organizations'; '--api-key-file' = '@files'; '--server' = '--server' }
            arguments = @('@files')
        }
        'mask' = @{
            commands = @{}
            options = @{ '-d' = 'Where the content goes'; '--destination' = 'Where the content goes'; '-p' = 'A policy file, or the name of a built-in policy'; '--policy' = 'A policy file, or the name of a built-in policy'; '--operator' = 'How to mask'; '--vault' = 'Mask by tokens and keep the values here, for ''dlpctl unmask'''; '-o' = 'Write here instead of stdout, at the end'; '--output' = 'Write here instead of stdout, at the end'; '--force' = 'Write over a file that is there already'; '--stats' = 'Say on stderr what was masked'; '--password' = 'Ask for the password of an encrypted file'; '--password-file' = 'Read that password from a file'; '--on-uninspected' = 'What it means that a part of a file cannot be read, such as a picture'; '--before-after' = 'Draw the pages of a PDF that masking changed, before and after, for your eyes'; '--patterns' = 'Further patterns'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '-d' = '@destinations'; '--destination' = '@destinations'; '-p' = '@policies'; '--policy' = '@policies'; '--operator' = 'remove,redact,replace,hash,encrypt,token,surrogate,partial'; '--vault' = '@files'; '-o' = '@files'; '--output' = '@files'; '--password-file' = '@files'; '--on-uninspected' = '--on-uninspected'; '--before-after' = '@files'; '--patterns' = '@files' }
            arguments = @('@files')
        }
        'unmask' = @{
            commands = @{}
            options = @{ '--vault' = 'The vault that ''dlpctl mask --vault'' filled'; '-o' = 'Write here instead of stdout, at the end'; '--output' = 'Write here instead of stdout, at the end'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '--vault' = '@files'; '-o' = '@files'; '--output' = '@files' }
            arguments = @('@files')
        }
        'scan' = @{
            commands = @{}
            options = @{ '--types' = 'Look only for these categories, types or patterns, joined by commas'; '-p' = 'Look only for what this policy masks or blocks'; '--policy' = 'Look only for what this policy masks or blocks'; '-d' = 'Where the content goes'; '--destination' = 'Where the content goes'; '--min-score' = 'What a finding must score to count'; '--fail-on' = 'The score from which on a finding makes the exit status 20'; '--staged' = 'Scan what git would commit, as it is in the index'; '--history' = 'All that was ever committed, each content once'; '--diff' = 'Only lines that were added since this branch left BASE.'; '--include' = 'Only such files, as in .gitignore'; '--exclude' = 'No such files or folders'; '--no-ignore' = 'Scan what .gitignore and .dlpctlignore leave out, too'; '--no-names' = 'Look for no names and addresses, which take the longest to find'; '--max-size' = 'Skip larger files'; '--baseline' = 'What is accepted by name'; '--no-archives' = 'Do not look into archives'; '--keep-going' = 'Files that cannot be read do not make the exit status 1'; '-j' = 'Workers at once'; '--jobs' = 'Workers at once'; '-f' = 'What stdout gets'; '--format' = 'What stdout gets'; '--report' = 'Also write a report'; '-v' = 'List everything that was not scanned'; '--verbose' = 'List everything that was not scanned'; '-q' = 'Write nothing to stdout'; '--quiet' = 'Write nothing to stdout'; '--show-values' = 'Show the values themselves'; '--patterns' = 'Further patterns'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '--types' = '@types'; '-p' = '@policies'; '--policy' = '@policies'; '-d' = '@destinations'; '--destination' = '@destinations'; '--min-score' = '--min-score'; '--fail-on' = '--fail-on'; '--diff' = '--diff'; '--include' = '--include'; '--exclude' = '--exclude'; '--max-size' = '--max-size'; '--baseline' = '@files'; '-j' = '-j'; '--jobs' = '--jobs'; '-f' = 'human,json,jsonl,sarif,junit,github,gitlab,html,markdown'; '--format' = 'human,json,jsonl,sarif,junit,github,gitlab,html,markdown'; '--report' = '--report'; '--patterns' = '@files' }
            arguments = @('@files')
        }
        'explain' = @{
            commands = @{}
            options = @{ '--min-score' = 'What a finding must score to count'; '--misses' = 'How many near misses to show'; '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '--patterns' = 'Further patterns'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '--min-score' = '--min-score'; '--misses' = '--misses'; '-f' = 'human,json'; '--format' = 'human,json'; '--patterns' = '@files' }
            arguments = @('@files')
        }
        'policy' = @{
            commands = @{ 'list' = 'List the built-in policies to start from'; 'show' = 'Print a policy and its rules'; 'lint' = 'Find rules that can never act, what no rule covers, and exceptions that have expired'; 'test' = 'Run a table of cases'; 'diff' = 'Compare two policies'; 'stored' = 'List the policies of an organization'; 'create' = 'Store a policy for an organization'; 'update' = 'Replace what a stored policy says, which makes a new version of it'; 'versions' = 'List what a stored policy said before, the newest first'; 'regenerate-key' = 'Give a stored policy a new key'; 'delete' = 'Delete a stored policy' }
            options = @{ '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{}
            arguments = @()
        }
        'policy list' = @{
            commands = @{}
            options = @{ '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '-f' = 'human,json'; '--format' = 'human,json' }
            arguments = @()
        }
        'policy show' = @{
            commands = @{}
            options = @{ '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '-f' = 'human,json'; '--format' = 'human,json' }
            arguments = @('@policies')
        }
        'policy lint' = @{
            commands = @{}
            options = @{ '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '-f' = 'human,json'; '--format' = 'human,json' }
            arguments = @('@policies')
        }
        'policy test' = @{
            commands = @{}
            options = @{ '--cases' = 'The cases'; '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '--cases' = '@files'; '-f' = 'human,json'; '--format' = 'human,json' }
            arguments = @('@policies')
        }
        'policy diff' = @{
            commands = @{}
            options = @{ '--corpus' = 'Say which decisions on the texts in here change'; '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '--corpus' = '@files'; '-f' = 'human,json'; '--format' = 'human,json' }
            arguments = @('@policies', '@policies')
        }
        'policy stored' = @{
            commands = @{}
            options = @{ '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '--server' = 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '-f' = 'human,json'; '--format' = 'human,json'; '--server' = '--server' }
            arguments = @('@organizations', '@stored-policies')
        }
        'policy create' = @{
            commands = @{}
            options = @{ '--group' = 'A group that it belongs to'; '--active' = 'Whether checks by it are answered'; '--inactive' = 'Whether checks by it are answered'; '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '--server' = 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '--group' = '--group'; '-f' = 'human,json'; '--format' = 'human,json'; '--server' = '--server' }
            arguments = @('@organizations', '@policies')
        }
        'policy update' = @{
            commands = @{}
            options = @{ '--group' = 'A group that it belongs to'; '--active' = 'Whether checks by it are answered'; '--inactive' = 'Whether checks by it are answered'; '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '--server' = 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '--group' = '--group'; '-f' = 'human,json'; '--format' = 'human,json'; '--server' = '--server' }
            arguments = @('@organizations', '@stored-policies', '@policies')
        }
        'policy versions' = @{
            commands = @{}
            options = @{ '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '--server' = 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '-f' = 'human,json'; '--format' = 'human,json'; '--server' = '--server' }
            arguments = @('@organizations', '@stored-policies')
        }
        'policy regenerate-key' = @{
            commands = @{}
            options = @{ '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '--server' = 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '-f' = 'human,json'; '--format' = 'human,json'; '--server' = '--server' }
            arguments = @('@organizations', '@stored-policies')
        }
        'policy delete' = @{
            commands = @{}
            options = @{ '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '--server' = 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '-f' = 'human,json'; '--format' = 'human,json'; '--server' = '--server' }
            arguments = @('@organizations', '@stored-policies')
        }
        'patterns' = @{
            commands = @{ 'list' = 'List the patterns'; 'types' = 'List what can be found, with the laws that make it sensitive'; 'stats' = 'Measure the patterns'; 'show' = 'Show one pattern whole, with its examples'; 'test' = 'Compile each pattern in both engines, run its examples, and warn of what is broad or costly' }
            options = @{ '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{}
            arguments = @()
        }
        'patterns list' = @{
            commands = @{}
            options = @{ '--category' = 'Only patterns with this'; '--type' = 'Only patterns of this type'; '--search' = 'Only patterns whose id or label holds this'; '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '--patterns' = 'Further patterns'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '--category' = '@categories'; '--type' = '@types'; '--search' = '--search'; '-f' = 'human,json'; '--format' = 'human,json'; '--patterns' = '@files' }
            arguments = @()
        }
        'patterns types' = @{
            commands = @{}
            options = @{ '--category' = 'Only patterns with this'; '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '--category' = '@categories'; '-f' = 'human,json'; '--format' = 'human,json' }
            arguments = @()
        }
        'patterns stats' = @{
            commands = @{}
            options = @{ '--seed' = 'What is planted and written depends on it'; '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '--patterns' = 'Further patterns'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '--seed' = '--seed'; '-f' = 'human,json'; '--format' = 'human,json'; '--patterns' = '@files' }
            arguments = @()
        }
        'patterns show' = @{
            commands = @{}
            options = @{ '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '--patterns' = 'Further patterns'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '-f' = 'human,json'; '--format' = 'human,json'; '--patterns' = '@files' }
            arguments = @('')
        }
        'patterns test' = @{
            commands = @{}
            options = @{ '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '-f' = 'human,json'; '--format' = 'human,json' }
            arguments = @('@files')
        }
        'config' = @{
            commands = @{ 'show' = 'Print each setting, its value, and who set it last'; 'path' = 'Print the files and folders that dlpctl uses, there or not' }
            options = @{ '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{}
            arguments = @()
        }
        'config show' = @{
            commands = @{}
            options = @{ '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '-f' = 'human,json'; '--format' = 'human,json' }
            arguments = @()
        }
        'config path' = @{
            commands = @{}
            options = @{ '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '-f' = 'human,json'; '--format' = 'human,json' }
            arguments = @('project,user,config,data,cache')
        }
        'hook' = @{
            commands = @{ 'install' = 'Look for secrets in what is staged before each commit'; 'uninstall' = 'Remove the hook, and put back the one that was there before'; 'run' = 'Scan as the hooks do, and print the command that accepts a finding'; 'show' = 'Print a hook or a pipeline, to be put into a file of yours' }
            options = @{ '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{}
            arguments = @()
        }
        'hook install' = @{
            commands = @{}
            options = @{ '--types' = 'Look for these categories, types or patterns'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '--types' = '@types' }
            arguments = @('git')
        }
        'hook uninstall' = @{
            commands = @{}
            options = @{ '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{}
            arguments = @('git')
        }
        'hook run' = @{
            commands = @{}
            options = @{ '--types' = 'Look for these categories, types or patterns'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '--types' = '@types' }
            arguments = @('@files')
        }
        'hook show' = @{
            commands = @{}
            options = @{ '--install-from' = 'Where pipelines install dlpctl from, such as ''git+https://HOST/ORG/dlpctl@COMMIT'''; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '--install-from' = '--install-from' }
            arguments = @('git,pre-commit,github,gitlab')
        }
        'allow' = @{
            commands = @{}
            options = @{ '--reason' = 'Why it may stay'; '--owner' = 'Who answers for them'; '--expires' = 'Until 2027-01-31, for 90d, or never'; '--types' = 'The --types of the scan that found it, if it had any'; '--baseline' = 'The exceptions'; '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '--reason' = '--reason'; '--owner' = '--owner'; '--expires' = '--expires'; '--types' = '@types'; '--baseline' = '@files'; '-f' = 'human,json'; '--format' = 'human,json' }
            arguments = @('')
        }
        'baseline' = @{
            commands = @{ 'create' = 'Accept all that is found now, so that only what is new counts'; 'update' = 'Accept what is found and not accepted yet'; 'audit' = 'List the exceptions, where they apply, and which have expired or are of no use'; 'prune' = 'Remove the exceptions that have expired'; 'import' = 'Take over what another tool accepts' }
            options = @{ '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{}
            arguments = @()
        }
        'baseline create' = @{
            commands = @{}
            options = @{ '--baseline' = 'The exceptions'; '--owner' = 'Who answers for them'; '--reason' = 'Why they may stay'; '--expires' = 'Until 2027-01-31, for 90d, or never'; '--types' = 'Only these categories, types or patterns, joined by commas'; '--min-score' = 'What a finding must score to count'; '-d' = 'Where the content goes'; '--destination' = 'Where the content goes'; '--with-paths' = 'Accept each value in the file where it is now, and nowhere else'; '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '--baseline' = '@files'; '--owner' = '--owner'; '--reason' = '--reason'; '--expires' = '--expires'; '--types' = '@types'; '--min-score' = '--min-score'; '-d' = '@destinations'; '--destination' = '@destinations'; '-f' = 'human,json'; '--format' = 'human,json' }
            arguments = @('@files')
        }
        'baseline update' = @{
            commands = @{}
            options = @{ '--baseline' = 'The exceptions'; '--owner' = 'Who answers for them'; '--reason' = 'Why they may stay'; '--expires' = 'Until 2027-01-31, for 90d, or never'; '--types' = 'Only these categories, types or patterns, joined by commas'; '--min-score' = 'What a finding must score to count'; '-d' = 'Where the content goes'; '--destination' = 'Where the content goes'; '--with-paths' = 'Accept each value in the file where it is now, and nowhere else'; '--renew' = 'Also renew those that have expired and are still found'; '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '--baseline' = '@files'; '--owner' = '--owner'; '--reason' = '--reason'; '--expires' = '--expires'; '--types' = '@types'; '--min-score' = '--min-score'; '-d' = '@destinations'; '--destination' = '@destinations'; '-f' = 'human,json'; '--format' = 'human,json' }
            arguments = @('@files')
        }
        'baseline audit' = @{
            commands = @{}
            options = @{ '--baseline' = 'The exceptions'; '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '--baseline' = '@files'; '-f' = 'human,json'; '--format' = 'human,json' }
            arguments = @('@files')
        }
        'baseline prune' = @{
            commands = @{}
            options = @{ '--baseline' = 'The exceptions'; '--unused' = 'Also those whose values are not found any more'; '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '--baseline' = '@files'; '-f' = 'human,json'; '--format' = 'human,json' }
            arguments = @()
        }
        'baseline import' = @{
            commands = @{}
            options = @{ '--baseline' = 'The exceptions'; '--owner' = 'Who answers for them'; '--expires' = 'Until 2027-01-31, for 90d, or never'; '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '--baseline' = '@files'; '--owner' = '--owner'; '--expires' = '--expires'; '-f' = 'human,json'; '--format' = 'human,json' }
            arguments = @('@files')
        }
        'completions' = @{
            commands = @{}
            options = @{ '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{}
            arguments = @('bash,zsh,fish,powershell,install', 'bash,zsh,fish,powershell')
        }
        'doctor' = @{
            commands = @{}
            options = @{ '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '-f' = 'human,json'; '--format' = 'human,json' }
            arguments = @()
        }
        'help' = @{
            commands = @{}
            options = @{ '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{}
            arguments = @('baselines,ci,commands,configuration,daemon,environment,exit-codes,files,library,limits,patterns,policies,pre-commit,prompts,security,shell,types,vendors')
        }
        'init' = @{
            commands = @{}
            options = @{ '--org' = 'Also create an organization of this name'; '--slug' = 'Its slug'; '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '--server' = 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '--org' = '@organizations'; '--slug' = '--slug'; '-f' = 'human,json'; '--format' = 'human,json'; '--server' = '--server' }
            arguments = @()
        }
        'org' = @{
            commands = @{ 'list' = 'List them'; 'create' = 'Create one, with a trial license and a default policy'; 'show' = 'Print one'; 'update' = 'Change its name and settings'; 'delete' = 'Delete one with its policies, licenses, tokens and analytics' }
            options = @{ '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{}
            arguments = @()
        }
        'org list' = @{
            commands = @{}
            options = @{ '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '--server' = 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '-f' = 'human,json'; '--format' = 'human,json'; '--server' = '--server' }
            arguments = @()
        }
        'org create' = @{
            commands = @{}
            options = @{ '--slug' = 'What commands and addresses call it'; '--set' = 'A setting, such as admin_email'; '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '--server' = 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '--slug' = '--slug'; '--set' = '--set'; '-f' = 'human,json'; '--format' = 'human,json'; '--server' = '--server' }
            arguments = @('')
        }
        'org show' = @{
            commands = @{}
            options = @{ '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '--server' = 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '-f' = 'human,json'; '--format' = 'human,json'; '--server' = '--server' }
            arguments = @('@organizations')
        }
        'org update' = @{
            commands = @{}
            options = @{ '--name' = 'A new name'; '--set' = 'A setting, such as admin_email'; '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '--server' = 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '--name' = '--name'; '--set' = '--set'; '-f' = 'human,json'; '--format' = 'human,json'; '--server' = '--server' }
            arguments = @('@organizations')
        }
        'org delete' = @{
            commands = @{}
            options = @{ '--yes' = 'Do it'; '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '--server' = 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '-f' = 'human,json'; '--format' = 'human,json'; '--server' = '--server' }
            arguments = @('@organizations')
        }
        'group' = @{
            commands = @{ 'list' = 'List those of an organization'; 'create' = 'Create one'; 'show' = 'Print one'; 'update' = 'Change it'; 'delete' = 'Delete it' }
            options = @{ '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{}
            arguments = @()
        }
        'group list' = @{
            commands = @{}
            options = @{ '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '--server' = 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '-f' = 'human,json'; '--format' = 'human,json'; '--server' = '--server' }
            arguments = @('@organizations')
        }
        'group create' = @{
            commands = @{}
            options = @{ '--description' = 'What it is for'; '--policy' = 'A policy that it holds'; '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '--server' = 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '--description' = '--description'; '--policy' = '@stored-policies'; '-f' = 'human,json'; '--format' = 'human,json'; '--server' = '--server' }
            arguments = @('@organizations', '')
        }
        'group show' = @{
            commands = @{}
            options = @{ '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '--server' = 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '-f' = 'human,json'; '--format' = 'human,json'; '--server' = '--server' }
            arguments = @('@organizations', '')
        }
        'group update' = @{
            commands = @{}
            options = @{ '--name' = 'A new name'; '--description' = 'What it is for'; '--policy' = 'A policy that it holds'; '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '--server' = 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '--name' = '--name'; '--description' = '--description'; '--policy' = '@stored-policies'; '-f' = 'human,json'; '--format' = 'human,json'; '--server' = '--server' }
            arguments = @('@organizations', '')
        }
        'group delete' = @{
            commands = @{}
            options = @{ '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '--server' = 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '-f' = 'human,json'; '--format' = 'human,json'; '--server' = '--server' }
            arguments = @('@organizations', '')
        }
        'license' = @{
            commands = @{ 'list' = 'List those of an organization'; 'create' = 'Create one'; 'extend' = 'Let it last longer, or allow more'; 'revoke' = 'Revoke it, which deactivates the policies of its groups at once'; 'validate' = 'Ask what a license key is good for'; 'public-key' = 'Print the key that verifies license tokens'; 'rotate-keys' = 'Sign license tokens with a new key from now on' }
            options = @{ '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{}
            arguments = @()
        }
        'license list' = @{
            commands = @{}
            options = @{ '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '--server' = 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '-f' = 'human,json'; '--format' = 'human,json'; '--server' = '--server' }
            arguments = @('@organizations')
        }
        'license create' = @{
            commands = @{}
            options = @{ '--type' = 'trial, standard or enterprise'; '--expires' = 'A day or a moment, as in 2027-01-31 or 2027-01-31T12:00Z.'; '--checks' = 'Checks a month, where the plan''s are not right'; '--group' = 'A policy group that it covers'; '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '--server' = 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '--type' = '--type'; '--expires' = '--expires'; '--checks' = '--checks'; '--group' = '--group'; '-f' = 'human,json'; '--format' = 'human,json'; '--server' = '--server' }
            arguments = @('@organizations')
        }
        'license extend' = @{
            commands = @{}
            options = @{ '--type' = 'Another plan'; '--expires' = 'A day or a moment, as in 2027-01-31 or 2027-01-31T12:00Z.'; '--checks' = 'Checks a month, where the plan''s are not right'; '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '--server' = 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '--type' = '--type'; '--expires' = '--expires'; '--checks' = '--checks'; '-f' = 'human,json'; '--format' = 'human,json'; '--server' = '--server' }
            arguments = @('@organizations', '')
        }
        'license revoke' = @{
            commands = @{}
            options = @{ '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '--server' = 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '-f' = 'human,json'; '--format' = 'human,json'; '--server' = '--server' }
            arguments = @('@organizations', '')
        }
        'license validate' = @{
            commands = @{}
            options = @{ '--key' = 'The license key'; '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '--server' = 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '--key' = '--key'; '-f' = 'human,json'; '--format' = 'human,json'; '--server' = '--server' }
            arguments = @()
        }
        'license public-key' = @{
            commands = @{}
            options = @{ '--key-id' = 'An older one'; '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '--server' = 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '--key-id' = '--key-id'; '-f' = 'human,json'; '--format' = 'human,json'; '--server' = '--server' }
            arguments = @()
        }
        'license rotate-keys' = @{
            commands = @{}
            options = @{ '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '--server' = 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '-f' = 'human,json'; '--format' = 'human,json'; '--server' = '--server' }
            arguments = @()
        }
        'token' = @{
            commands = @{ 'list' = 'List them, without the tokens themselves'; 'create' = 'Create one'; 'revoke' = 'Revoke one' }
            options = @{ '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{}
            arguments = @()
        }
        'token list' = @{
            commands = @{}
            options = @{ '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '--server' = 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '-f' = 'human,json'; '--format' = 'human,json'; '--server' = '--server' }
            arguments = @()
        }
        'token create' = @{
            commands = @{}
            options = @{ '--role' = 'admin'; '--org' = 'The only organization that it sees'; '--name' = 'What or whom it is for'; '--expires' = 'A day or a moment, as in 2027-01-31 or 2027-01-31T12:00Z.'; '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '--server' = 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '--role' = '--role'; '--org' = '@organizations'; '--name' = '--name'; '--expires' = '--expires'; '-f' = 'human,json'; '--format' = 'human,json'; '--server' = '--server' }
            arguments = @()
        }
        'token revoke' = @{
            commands = @{}
            options = @{ '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '--server' = 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '-f' = 'human,json'; '--format' = 'human,json'; '--server' = '--server' }
            arguments = @('')
        }
        'analytics' = @{
            commands = @{}
            options = @{ '--period' = '7d, 30d or 90d'; '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '--server' = 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '--period' = '--period'; '-f' = 'human,json'; '--format' = 'human,json'; '--server' = '--server' }
            arguments = @('@organizations')
        }
        'audit' = @{
            commands = @{ 'list' = 'List checks, the newest first'; 'export' = 'Write all of them, the newest first'; 'verify' = 'Follow the chain of hashes through the log' }
            options = @{ '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{}
            arguments = @()
        }
        'audit list' = @{
            commands = @{}
            options = @{ '--org' = 'Of this organization alone'; '--search' = 'In summary, policy, organization and destination'; '--limit' = 'How many'; '--offset' = 'After how many'; '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '--server' = 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '--org' = '@organizations'; '--search' = '--search'; '--limit' = '--limit'; '--offset' = '--offset'; '-f' = 'human,json'; '--format' = 'human,json'; '--server' = '--server' }
            arguments = @()
        }
        'audit export' = @{
            commands = @{}
            options = @{ '--org' = 'Of this organization alone'; '--search' = 'In summary, policy, organization and destination'; '-f' = 'One JSON object a line, or CSV.'; '--format' = 'One JSON object a line, or CSV.'; '-o' = 'Write here instead of stdout, at the end'; '--output' = 'Write here instead of stdout, at the end'; '--server' = 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '--org' = '@organizations'; '--search' = '--search'; '-f' = 'jsonl,csv'; '--format' = 'jsonl,csv'; '-o' = '@files'; '--output' = '@files'; '--server' = '--server' }
            arguments = @()
        }
        'audit verify' = @{
            commands = @{}
            options = @{ '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '--server' = 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '-f' = 'human,json'; '--format' = 'human,json'; '--server' = '--server' }
            arguments = @()
        }
        'db' = @{
            commands = @{ 'check' = 'Look whether it is whole'; 'backup' = 'Copy it while others use it'; 'restore' = 'Put a backup in its place'; 'vacuum' = 'Give the space of what was removed back to the disk'; 'prune' = 'Remove old checks from the audit log' }
            options = @{ '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{}
            arguments = @()
        }
        'db check' = @{
            commands = @{}
            options = @{ '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '-f' = 'human,json'; '--format' = 'human,json' }
            arguments = @()
        }
        'db backup' = @{
            commands = @{}
            options = @{ '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '-f' = 'human,json'; '--format' = 'human,json' }
            arguments = @('@files')
        }
        'db restore' = @{
            commands = @{}
            options = @{ '--yes' = 'Replace what is there now'; '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '-f' = 'human,json'; '--format' = 'human,json' }
            arguments = @('@files')
        }
        'db vacuum' = @{
            commands = @{}
            options = @{ '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '-f' = 'human,json'; '--format' = 'human,json' }
            arguments = @()
        }
        'db prune' = @{
            commands = @{}
            options = @{ '--older-than' = 'Of the checks to remove'; '-f' = 'For people or for programs'; '--format' = 'For people or for programs'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '--older-than' = '--older-than'; '-f' = 'human,json'; '--format' = 'human,json' }
            arguments = @()
        }
        'serve' = @{
            commands = @{}
            options = @{ '--host' = 'To listen on'; '--port' = '8686'; '--unix-socket' = 'Listen on a socket in the file system instead'; '--allow-remote' = 'Allow an ADDRESS that other machines reach, without encryption'; '--trusted-proxy' = 'A proxy whose X-Forwarded headers say who asks for what'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '--host' = '--host'; '--port' = '--port'; '--unix-socket' = '@files'; '--trusted-proxy' = '--trusted-proxy' }
            arguments = @()
        }
        'apply' = @{
            commands = @{}
            options = @{ '-f' = 'TOML, YAML or JSON.'; '--file' = 'TOML, YAML or JSON.'; '--dry-run' = 'Say what would change, and change nothing'; '--format' = 'For people or for programs'; '--server' = 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'; '-h' = 'Show this message and exit'; '--help' = 'Show this message and exit' }
            valued = @{ '-f' = '@files'; '--file' = '@files'; '--format' = 'human,json'; '--server' = '--server' }
            arguments = @()
        }
    }

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
        foreach ($value in @(dlpctl __complete $kind.Substring(1) 2>$null)) { $found[$value] = $value }
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
