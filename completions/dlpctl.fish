# Completion of dlpctl for fish, written by 'dlpctl completions fish'.

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
    for value in (dlpctl __complete $argv)
        echo $before$value
    end
end

complete -c dlpctl -f

# dlpctl
complete -c dlpctl -n '__dlpctl_exactly' -a check -d 'decide whether content may go to a destination'
complete -c dlpctl -n '__dlpctl_exactly' -a mask -d 'mask content, as a filter'
complete -c dlpctl -n '__dlpctl_exactly' -a unmask -d 'restore masked tokens'
complete -c dlpctl -n '__dlpctl_exactly' -a scan -d 'find sensitive data in files'
complete -c dlpctl -n '__dlpctl_exactly' -a explain -d 'say why something is found, or is not'
complete -c dlpctl -n '__dlpctl_exactly' -a policy -d 'look into policies'
complete -c dlpctl -n '__dlpctl_exactly' -a patterns -d 'list, show and test patterns'
complete -c dlpctl -n '__dlpctl_exactly' -a config -d 'show settings and where they come from'
complete -c dlpctl -n '__dlpctl_exactly' -a hook -d 'keep secrets and sensitive data out of commits and pipelines'
complete -c dlpctl -n '__dlpctl_exactly' -a allow -d 'accept one finding, for a reason and for a time'
complete -c dlpctl -n '__dlpctl_exactly' -a baseline -d 'accept all that is found now, and look after what is accepted'
complete -c dlpctl -n '__dlpctl_exactly' -a completions -d 'complete commands in a shell'
complete -c dlpctl -n '__dlpctl_exactly' -a doctor -d 'say what is wrong with this installation, and what mends it'
complete -c dlpctl -n '__dlpctl_exactly' -a help -d 'explain a topic'
complete -c dlpctl -n '__dlpctl_exactly' -a init -d 'make a control plane to begin with'
complete -c dlpctl -n '__dlpctl_exactly' -a org -d 'administer organizations'
complete -c dlpctl -n '__dlpctl_exactly' -a group -d 'administer policy groups'
complete -c dlpctl -n '__dlpctl_exactly' -a license -d 'administer and validate licenses'
complete -c dlpctl -n '__dlpctl_exactly' -a token -d 'administer admin tokens'
complete -c dlpctl -n '__dlpctl_exactly' -a analytics -d 'show what the checks came to'
complete -c dlpctl -n '__dlpctl_exactly' -a audit -d 'search, export and verify the log of checks'
complete -c dlpctl -n '__dlpctl_exactly' -a db -d 'look after the database'
complete -c dlpctl -n '__dlpctl_exactly' -a serve -d 'answer checks over HTTP'
complete -c dlpctl -n '__dlpctl_exactly' -a apply -d 'create and change organizations as a file says'
complete -c dlpctl -n '__dlpctl_exactly' -s V -l version -d 'Print the version'
complete -c dlpctl -n '__dlpctl_exactly' -s h -l help -d 'Show this message and exit'

# dlpctl check
complete -c dlpctl -n '__dlpctl_at check' -s d -l destination -r -f -a '(dlpctl __complete destinations)' -d 'Where the content goes'
complete -c dlpctl -n '__dlpctl_at check' -s p -l policy -r -F -a '(dlpctl __complete policies)' -d 'A policy file, or the name of a built-in policy'
complete -c dlpctl -n '__dlpctl_at check' -l operator -r -f -a 'remove redact replace hash encrypt token surrogate partial' -d 'How to mask'
complete -c dlpctl -n '__dlpctl_at check' -s o -l output -r -F -d 'Write the masked copy here'
complete -c dlpctl -n '__dlpctl_at check' -l force -d 'Write over a file that is there already'
complete -c dlpctl -n '__dlpctl_at check' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at check' -l findings -d 'List every finding in the JSON.'
complete -c dlpctl -n '__dlpctl_at check' -l decision-only -d 'Print the decision alone'
complete -c dlpctl -n '__dlpctl_at check' -s q -l quiet -d 'Print nothing'
complete -c dlpctl -n '__dlpctl_at check' -l password -d 'Ask for the password of an encrypted file'
complete -c dlpctl -n '__dlpctl_at check' -l password-file -r -F -d 'Read that password from a file'
complete -c dlpctl -n '__dlpctl_at check' -l on-uninspected -x -d 'What it means that a part of a file cannot be read, such as a picture'
complete -c dlpctl -n '__dlpctl_at check' -l before-after -r -F -d 'Draw the pages of a PDF that masking changed, before and after, for your eyes'
complete -c dlpctl -n '__dlpctl_at check' -l patterns -r -F -d 'Further patterns'
complete -c dlpctl -n '__dlpctl_at check' -l org -r -f -a '(dlpctl __complete organizations)' -d 'Check by a policy of this organization, in its log and quota'
complete -c dlpctl -n '__dlpctl_at check' -l api-key-file -r -F -d 'The key of the policy to check by'
complete -c dlpctl -n '__dlpctl_at check' -l server -x -d 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'
complete -c dlpctl -n '__dlpctl_at check' -s h -l help -d 'Show this message and exit'
complete -c dlpctl -n '__dlpctl_at check' -F

# dlpctl mask
complete -c dlpctl -n '__dlpctl_at mask' -s d -l destination -r -f -a '(dlpctl __complete destinations)' -d 'Where the content goes'
complete -c dlpctl -n '__dlpctl_at mask' -s p -l policy -r -F -a '(dlpctl __complete policies)' -d 'A policy file, or the name of a built-in policy'
complete -c dlpctl -n '__dlpctl_at mask' -l operator -r -f -a 'remove redact replace hash encrypt token surrogate partial' -d 'How to mask'
complete -c dlpctl -n '__dlpctl_at mask' -l vault -r -F -d 'Mask by tokens and keep the values here, for \'dlpctl unmask\''
complete -c dlpctl -n '__dlpctl_at mask' -s o -l output -r -F -d 'Write here instead of stdout, at the end'
complete -c dlpctl -n '__dlpctl_at mask' -l force -d 'Write over a file that is there already'
complete -c dlpctl -n '__dlpctl_at mask' -l stats -d 'Say on stderr what was masked'
complete -c dlpctl -n '__dlpctl_at mask' -l password -d 'Ask for the password of an encrypted file'
complete -c dlpctl -n '__dlpctl_at mask' -l password-file -r -F -d 'Read that password from a file'
complete -c dlpctl -n '__dlpctl_at mask' -l on-uninspected -x -d 'What it means that a part of a file cannot be read, such as a picture'
complete -c dlpctl -n '__dlpctl_at mask' -l before-after -r -F -d 'Draw the pages of a PDF that masking changed, before and after, for your eyes'
complete -c dlpctl -n '__dlpctl_at mask' -l patterns -r -F -d 'Further patterns'
complete -c dlpctl -n '__dlpctl_at mask' -s h -l help -d 'Show this message and exit'
complete -c dlpctl -n '__dlpctl_at mask' -F

# dlpctl unmask
complete -c dlpctl -n '__dlpctl_at unmask' -l vault -r -F -d 'The vault that \'dlpctl mask --vault\' filled'
complete -c dlpctl -n '__dlpctl_at unmask' -s o -l output -r -F -d 'Write here instead of stdout, at the end'
complete -c dlpctl -n '__dlpctl_at unmask' -s h -l help -d 'Show this message and exit'
complete -c dlpctl -n '__dlpctl_at unmask' -F

# dlpctl scan
complete -c dlpctl -n '__dlpctl_at scan' -l types -r -f -a '(__dlpctl_list types)' -d 'Look only for these categories, types or patterns, joined by commas'
complete -c dlpctl -n '__dlpctl_at scan' -s p -l policy -r -F -a '(dlpctl __complete policies)' -d 'Look only for what this policy masks or blocks'
complete -c dlpctl -n '__dlpctl_at scan' -s d -l destination -r -f -a '(dlpctl __complete destinations)' -d 'Where the content goes'
complete -c dlpctl -n '__dlpctl_at scan' -l min-score -x -d 'What a finding must score to count'
complete -c dlpctl -n '__dlpctl_at scan' -l fail-on -x -d 'The score from which on a finding makes the exit status 20'
complete -c dlpctl -n '__dlpctl_at scan' -l staged -d 'Scan what git would commit, as it is in the index'
complete -c dlpctl -n '__dlpctl_at scan' -l history -d 'All that was ever committed, each content once'
complete -c dlpctl -n '__dlpctl_at scan' -l diff -x -d 'Only lines that were added since this branch left BASE.'
complete -c dlpctl -n '__dlpctl_at scan' -l include -x -d 'Only such files, as in .gitignore'
complete -c dlpctl -n '__dlpctl_at scan' -l exclude -x -d 'No such files or folders'
complete -c dlpctl -n '__dlpctl_at scan' -l no-ignore -d 'Scan what .gitignore and .dlpctlignore leave out, too'
complete -c dlpctl -n '__dlpctl_at scan' -l no-names -d 'Look for no names and addresses, which take the longest to find'
complete -c dlpctl -n '__dlpctl_at scan' -l max-size -x -d 'Skip larger files'
complete -c dlpctl -n '__dlpctl_at scan' -l baseline -r -F -d 'What is accepted by name'
complete -c dlpctl -n '__dlpctl_at scan' -l no-archives -d 'Do not look into archives'
complete -c dlpctl -n '__dlpctl_at scan' -l keep-going -d 'Files that cannot be read do not make the exit status 1'
complete -c dlpctl -n '__dlpctl_at scan' -s j -l jobs -x -d 'Workers at once'
complete -c dlpctl -n '__dlpctl_at scan' -s f -l format -r -f -a 'human json jsonl sarif junit github gitlab html markdown' -d 'What stdout gets'
complete -c dlpctl -n '__dlpctl_at scan' -l report -x -d 'Also write a report'
complete -c dlpctl -n '__dlpctl_at scan' -s v -l verbose -d 'List everything that was not scanned'
complete -c dlpctl -n '__dlpctl_at scan' -s q -l quiet -d 'Write nothing to stdout'
complete -c dlpctl -n '__dlpctl_at scan' -l show-values -d 'Show the values themselves'
complete -c dlpctl -n '__dlpctl_at scan' -l patterns -r -F -d 'Further patterns'
complete -c dlpctl -n '__dlpctl_at scan' -s h -l help -d 'Show this message and exit'
complete -c dlpctl -n '__dlpctl_at scan' -F

# dlpctl explain
complete -c dlpctl -n '__dlpctl_at explain' -l min-score -x -d 'What a finding must score to count'
complete -c dlpctl -n '__dlpctl_at explain' -l misses -x -d 'How many near misses to show'
complete -c dlpctl -n '__dlpctl_at explain' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at explain' -l patterns -r -F -d 'Further patterns'
complete -c dlpctl -n '__dlpctl_at explain' -s h -l help -d 'Show this message and exit'
complete -c dlpctl -n '__dlpctl_at explain' -F

# dlpctl policy
complete -c dlpctl -n '__dlpctl_exactly policy' -a list -d 'List the built-in policies to start from'
complete -c dlpctl -n '__dlpctl_exactly policy' -a show -d 'Print a policy and its rules'
complete -c dlpctl -n '__dlpctl_exactly policy' -a lint -d 'Find rules that can never act, what no rule covers, and exceptions that have expired'
complete -c dlpctl -n '__dlpctl_exactly policy' -a test -d 'Run a table of cases'
complete -c dlpctl -n '__dlpctl_exactly policy' -a diff -d 'Compare two policies'
complete -c dlpctl -n '__dlpctl_exactly policy' -a stored -d 'List the policies of an organization'
complete -c dlpctl -n '__dlpctl_exactly policy' -a create -d 'Store a policy for an organization'
complete -c dlpctl -n '__dlpctl_exactly policy' -a update -d 'Replace what a stored policy says, which makes a new version of it'
complete -c dlpctl -n '__dlpctl_exactly policy' -a versions -d 'List what a stored policy said before, the newest first'
complete -c dlpctl -n '__dlpctl_exactly policy' -a regenerate-key -d 'Give a stored policy a new key'
complete -c dlpctl -n '__dlpctl_exactly policy' -a delete -d 'Delete a stored policy'
complete -c dlpctl -n '__dlpctl_exactly policy' -s h -l help -d 'Show this message and exit'

# dlpctl policy list
complete -c dlpctl -n '__dlpctl_at policy list' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at policy list' -s h -l help -d 'Show this message and exit'

# dlpctl policy show
complete -c dlpctl -n '__dlpctl_at policy show' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at policy show' -s h -l help -d 'Show this message and exit'
complete -c dlpctl -n '__dlpctl_at policy show' -F -a '(dlpctl __complete policies)'

# dlpctl policy lint
complete -c dlpctl -n '__dlpctl_at policy lint' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at policy lint' -s h -l help -d 'Show this message and exit'
complete -c dlpctl -n '__dlpctl_at policy lint' -F -a '(dlpctl __complete policies)'

# dlpctl policy test
complete -c dlpctl -n '__dlpctl_at policy test' -l cases -r -F -d 'The cases'
complete -c dlpctl -n '__dlpctl_at policy test' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at policy test' -s h -l help -d 'Show this message and exit'
complete -c dlpctl -n '__dlpctl_at policy test' -F -a '(dlpctl __complete policies)'

# dlpctl policy diff
complete -c dlpctl -n '__dlpctl_at policy diff' -l corpus -r -F -d 'Say which decisions on the texts in here change'
complete -c dlpctl -n '__dlpctl_at policy diff' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at policy diff' -s h -l help -d 'Show this message and exit'
complete -c dlpctl -n '__dlpctl_at policy diff' -F -a '(dlpctl __complete policies)'

# dlpctl policy stored
complete -c dlpctl -n '__dlpctl_at policy stored' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at policy stored' -l server -x -d 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'
complete -c dlpctl -n '__dlpctl_at policy stored' -s h -l help -d 'Show this message and exit'
complete -c dlpctl -n '__dlpctl_at policy stored' -f -a '(dlpctl __complete organizations)'
complete -c dlpctl -n '__dlpctl_at policy stored' -f -a '(dlpctl __complete stored-policies)'

# dlpctl policy create
complete -c dlpctl -n '__dlpctl_at policy create' -l group -x -d 'A group that it belongs to'
complete -c dlpctl -n '__dlpctl_at policy create' -l active -l inactive -d 'Whether checks by it are answered'
complete -c dlpctl -n '__dlpctl_at policy create' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at policy create' -l server -x -d 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'
complete -c dlpctl -n '__dlpctl_at policy create' -s h -l help -d 'Show this message and exit'
complete -c dlpctl -n '__dlpctl_at policy create' -f -a '(dlpctl __complete organizations)'
complete -c dlpctl -n '__dlpctl_at policy create' -F -a '(dlpctl __complete policies)'

# dlpctl policy update
complete -c dlpctl -n '__dlpctl_at policy update' -l group -x -d 'A group that it belongs to'
complete -c dlpctl -n '__dlpctl_at policy update' -l active -l inactive -d 'Whether checks by it are answered'
complete -c dlpctl -n '__dlpctl_at policy update' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at policy update' -l server -x -d 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'
complete -c dlpctl -n '__dlpctl_at policy update' -s h -l help -d 'Show this message and exit'
complete -c dlpctl -n '__dlpctl_at policy update' -f -a '(dlpctl __complete organizations)'
complete -c dlpctl -n '__dlpctl_at policy update' -f -a '(dlpctl __complete stored-policies)'
complete -c dlpctl -n '__dlpctl_at policy update' -F -a '(dlpctl __complete policies)'

# dlpctl policy versions
complete -c dlpctl -n '__dlpctl_at policy versions' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at policy versions' -l server -x -d 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'
complete -c dlpctl -n '__dlpctl_at policy versions' -s h -l help -d 'Show this message and exit'
complete -c dlpctl -n '__dlpctl_at policy versions' -f -a '(dlpctl __complete organizations)'
complete -c dlpctl -n '__dlpctl_at policy versions' -f -a '(dlpctl __complete stored-policies)'

# dlpctl policy regenerate-key
complete -c dlpctl -n '__dlpctl_at policy regenerate-key' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at policy regenerate-key' -l server -x -d 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'
complete -c dlpctl -n '__dlpctl_at policy regenerate-key' -s h -l help -d 'Show this message and exit'
complete -c dlpctl -n '__dlpctl_at policy regenerate-key' -f -a '(dlpctl __complete organizations)'
complete -c dlpctl -n '__dlpctl_at policy regenerate-key' -f -a '(dlpctl __complete stored-policies)'

# dlpctl policy delete
complete -c dlpctl -n '__dlpctl_at policy delete' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at policy delete' -l server -x -d 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'
complete -c dlpctl -n '__dlpctl_at policy delete' -s h -l help -d 'Show this message and exit'
complete -c dlpctl -n '__dlpctl_at policy delete' -f -a '(dlpctl __complete organizations)'
complete -c dlpctl -n '__dlpctl_at policy delete' -f -a '(dlpctl __complete stored-policies)'

# dlpctl patterns
complete -c dlpctl -n '__dlpctl_exactly patterns' -a list -d 'List the patterns'
complete -c dlpctl -n '__dlpctl_exactly patterns' -a types -d 'List what can be found, with the laws that make it sensitive'
complete -c dlpctl -n '__dlpctl_exactly patterns' -a stats -d 'Measure the patterns'
complete -c dlpctl -n '__dlpctl_exactly patterns' -a show -d 'Show one pattern whole, with its examples'
complete -c dlpctl -n '__dlpctl_exactly patterns' -a test -d 'Compile each pattern in both engines, run its examples, and warn of what is broad or costly'
complete -c dlpctl -n '__dlpctl_exactly patterns' -s h -l help -d 'Show this message and exit'

# dlpctl patterns list
complete -c dlpctl -n '__dlpctl_at patterns list' -l category -r -f -a '(dlpctl __complete categories)' -d 'Only patterns with this'
complete -c dlpctl -n '__dlpctl_at patterns list' -l type -r -f -a '(__dlpctl_list types)' -d 'Only patterns of this type'
complete -c dlpctl -n '__dlpctl_at patterns list' -l search -x -d 'Only patterns whose id or label holds this'
complete -c dlpctl -n '__dlpctl_at patterns list' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at patterns list' -l patterns -r -F -d 'Further patterns'
complete -c dlpctl -n '__dlpctl_at patterns list' -s h -l help -d 'Show this message and exit'

# dlpctl patterns types
complete -c dlpctl -n '__dlpctl_at patterns types' -l category -r -f -a '(dlpctl __complete categories)' -d 'Only patterns with this'
complete -c dlpctl -n '__dlpctl_at patterns types' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at patterns types' -s h -l help -d 'Show this message and exit'

# dlpctl patterns stats
complete -c dlpctl -n '__dlpctl_at patterns stats' -l seed -x -d 'What is planted and written depends on it'
complete -c dlpctl -n '__dlpctl_at patterns stats' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at patterns stats' -l patterns -r -F -d 'Further patterns'
complete -c dlpctl -n '__dlpctl_at patterns stats' -s h -l help -d 'Show this message and exit'

# dlpctl patterns show
complete -c dlpctl -n '__dlpctl_at patterns show' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at patterns show' -l patterns -r -F -d 'Further patterns'
complete -c dlpctl -n '__dlpctl_at patterns show' -s h -l help -d 'Show this message and exit'

# dlpctl patterns test
complete -c dlpctl -n '__dlpctl_at patterns test' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at patterns test' -s h -l help -d 'Show this message and exit'
complete -c dlpctl -n '__dlpctl_at patterns test' -F

# dlpctl config
complete -c dlpctl -n '__dlpctl_exactly config' -a show -d 'Print each setting, its value, and who set it last'
complete -c dlpctl -n '__dlpctl_exactly config' -a path -d 'Print the files and folders that dlpctl uses, there or not'
complete -c dlpctl -n '__dlpctl_exactly config' -s h -l help -d 'Show this message and exit'

# dlpctl config show
complete -c dlpctl -n '__dlpctl_at config show' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at config show' -s h -l help -d 'Show this message and exit'

# dlpctl config path
complete -c dlpctl -n '__dlpctl_at config path' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at config path' -s h -l help -d 'Show this message and exit'
complete -c dlpctl -n '__dlpctl_at config path' -f -a 'project user config data cache'

# dlpctl hook
complete -c dlpctl -n '__dlpctl_exactly hook' -a install -d 'Look for secrets in what is staged before each commit'
complete -c dlpctl -n '__dlpctl_exactly hook' -a uninstall -d 'Remove the hook, and put back the one that was there before'
complete -c dlpctl -n '__dlpctl_exactly hook' -a run -d 'Scan as the hooks do, and print the command that accepts a finding'
complete -c dlpctl -n '__dlpctl_exactly hook' -a show -d 'Print a hook or a pipeline, to be put into a file of yours'
complete -c dlpctl -n '__dlpctl_exactly hook' -s h -l help -d 'Show this message and exit'

# dlpctl hook install
complete -c dlpctl -n '__dlpctl_at hook install' -l types -r -f -a '(__dlpctl_list types)' -d 'Look for these categories, types or patterns'
complete -c dlpctl -n '__dlpctl_at hook install' -s h -l help -d 'Show this message and exit'
complete -c dlpctl -n '__dlpctl_at hook install' -f -a 'git'

# dlpctl hook uninstall
complete -c dlpctl -n '__dlpctl_at hook uninstall' -s h -l help -d 'Show this message and exit'
complete -c dlpctl -n '__dlpctl_at hook uninstall' -f -a 'git'

# dlpctl hook run
complete -c dlpctl -n '__dlpctl_at hook run' -l types -r -f -a '(__dlpctl_list types)' -d 'Look for these categories, types or patterns'
complete -c dlpctl -n '__dlpctl_at hook run' -s h -l help -d 'Show this message and exit'
complete -c dlpctl -n '__dlpctl_at hook run' -F

# dlpctl hook show
complete -c dlpctl -n '__dlpctl_at hook show' -l install-from -x -d 'Where pipelines install dlpctl from, such as \'git+https://HOST/ORG/dlpctl@COMMIT\''
complete -c dlpctl -n '__dlpctl_at hook show' -s h -l help -d 'Show this message and exit'
complete -c dlpctl -n '__dlpctl_at hook show' -f -a 'git pre-commit github gitlab'

# dlpctl allow
complete -c dlpctl -n '__dlpctl_at allow' -l reason -x -d 'Why it may stay'
complete -c dlpctl -n '__dlpctl_at allow' -l owner -x -d 'Who answers for them'
complete -c dlpctl -n '__dlpctl_at allow' -l expires -x -d 'Until 2027-01-31, for 90d, or never'
complete -c dlpctl -n '__dlpctl_at allow' -l types -r -f -a '(__dlpctl_list types)' -d 'The --types of the scan that found it, if it had any'
complete -c dlpctl -n '__dlpctl_at allow' -l baseline -r -F -d 'The exceptions'
complete -c dlpctl -n '__dlpctl_at allow' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at allow' -s h -l help -d 'Show this message and exit'

# dlpctl baseline
complete -c dlpctl -n '__dlpctl_exactly baseline' -a create -d 'Accept all that is found now, so that only what is new counts'
complete -c dlpctl -n '__dlpctl_exactly baseline' -a update -d 'Accept what is found and not accepted yet'
complete -c dlpctl -n '__dlpctl_exactly baseline' -a audit -d 'List the exceptions, where they apply, and which have expired or are of no use'
complete -c dlpctl -n '__dlpctl_exactly baseline' -a prune -d 'Remove the exceptions that have expired'
complete -c dlpctl -n '__dlpctl_exactly baseline' -a import -d 'Take over what another tool accepts'
complete -c dlpctl -n '__dlpctl_exactly baseline' -s h -l help -d 'Show this message and exit'

# dlpctl baseline create
complete -c dlpctl -n '__dlpctl_at baseline create' -l baseline -r -F -d 'The exceptions'
complete -c dlpctl -n '__dlpctl_at baseline create' -l owner -x -d 'Who answers for them'
complete -c dlpctl -n '__dlpctl_at baseline create' -l reason -x -d 'Why they may stay'
complete -c dlpctl -n '__dlpctl_at baseline create' -l expires -x -d 'Until 2027-01-31, for 90d, or never'
complete -c dlpctl -n '__dlpctl_at baseline create' -l types -r -f -a '(__dlpctl_list types)' -d 'Only these categories, types or patterns, joined by commas'
complete -c dlpctl -n '__dlpctl_at baseline create' -l min-score -x -d 'What a finding must score to count'
complete -c dlpctl -n '__dlpctl_at baseline create' -s d -l destination -r -f -a '(dlpctl __complete destinations)' -d 'Where the content goes'
complete -c dlpctl -n '__dlpctl_at baseline create' -l with-paths -d 'Accept each value in the file where it is now, and nowhere else'
complete -c dlpctl -n '__dlpctl_at baseline create' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at baseline create' -s h -l help -d 'Show this message and exit'
complete -c dlpctl -n '__dlpctl_at baseline create' -F

# dlpctl baseline update
complete -c dlpctl -n '__dlpctl_at baseline update' -l baseline -r -F -d 'The exceptions'
complete -c dlpctl -n '__dlpctl_at baseline update' -l owner -x -d 'Who answers for them'
complete -c dlpctl -n '__dlpctl_at baseline update' -l reason -x -d 'Why they may stay'
complete -c dlpctl -n '__dlpctl_at baseline update' -l expires -x -d 'Until 2027-01-31, for 90d, or never'
complete -c dlpctl -n '__dlpctl_at baseline update' -l types -r -f -a '(__dlpctl_list types)' -d 'Only these categories, types or patterns, joined by commas'
complete -c dlpctl -n '__dlpctl_at baseline update' -l min-score -x -d 'What a finding must score to count'
complete -c dlpctl -n '__dlpctl_at baseline update' -s d -l destination -r -f -a '(dlpctl __complete destinations)' -d 'Where the content goes'
complete -c dlpctl -n '__dlpctl_at baseline update' -l with-paths -d 'Accept each value in the file where it is now, and nowhere else'
complete -c dlpctl -n '__dlpctl_at baseline update' -l renew -d 'Also renew those that have expired and are still found'
complete -c dlpctl -n '__dlpctl_at baseline update' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at baseline update' -s h -l help -d 'Show this message and exit'
complete -c dlpctl -n '__dlpctl_at baseline update' -F

# dlpctl baseline audit
complete -c dlpctl -n '__dlpctl_at baseline audit' -l baseline -r -F -d 'The exceptions'
complete -c dlpctl -n '__dlpctl_at baseline audit' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at baseline audit' -s h -l help -d 'Show this message and exit'
complete -c dlpctl -n '__dlpctl_at baseline audit' -F

# dlpctl baseline prune
complete -c dlpctl -n '__dlpctl_at baseline prune' -l baseline -r -F -d 'The exceptions'
complete -c dlpctl -n '__dlpctl_at baseline prune' -l unused -d 'Also those whose values are not found any more'
complete -c dlpctl -n '__dlpctl_at baseline prune' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at baseline prune' -s h -l help -d 'Show this message and exit'

# dlpctl baseline import
complete -c dlpctl -n '__dlpctl_at baseline import' -l baseline -r -F -d 'The exceptions'
complete -c dlpctl -n '__dlpctl_at baseline import' -l owner -x -d 'Who answers for them'
complete -c dlpctl -n '__dlpctl_at baseline import' -l expires -x -d 'Until 2027-01-31, for 90d, or never'
complete -c dlpctl -n '__dlpctl_at baseline import' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at baseline import' -s h -l help -d 'Show this message and exit'
complete -c dlpctl -n '__dlpctl_at baseline import' -F

# dlpctl completions
complete -c dlpctl -n '__dlpctl_at completions' -s h -l help -d 'Show this message and exit'
complete -c dlpctl -n '__dlpctl_at completions' -f -a 'bash zsh fish powershell install'
complete -c dlpctl -n '__dlpctl_at completions' -f -a 'bash zsh fish powershell'

# dlpctl doctor
complete -c dlpctl -n '__dlpctl_at doctor' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at doctor' -s h -l help -d 'Show this message and exit'

# dlpctl help
complete -c dlpctl -n '__dlpctl_at help' -s h -l help -d 'Show this message and exit'
complete -c dlpctl -n '__dlpctl_at help' -f -a 'baselines ci commands configuration daemon environment exit-codes files library limits patterns policies pre-commit prompts security shell types vendors'

# dlpctl init
complete -c dlpctl -n '__dlpctl_at init' -l org -r -f -a '(dlpctl __complete organizations)' -d 'Also create an organization of this name'
complete -c dlpctl -n '__dlpctl_at init' -l slug -x -d 'Its slug'
complete -c dlpctl -n '__dlpctl_at init' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at init' -l server -x -d 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'
complete -c dlpctl -n '__dlpctl_at init' -s h -l help -d 'Show this message and exit'

# dlpctl org
complete -c dlpctl -n '__dlpctl_exactly org' -a list -d 'List them'
complete -c dlpctl -n '__dlpctl_exactly org' -a create -d 'Create one, with a trial license and a default policy'
complete -c dlpctl -n '__dlpctl_exactly org' -a show -d 'Print one'
complete -c dlpctl -n '__dlpctl_exactly org' -a update -d 'Change its name and settings'
complete -c dlpctl -n '__dlpctl_exactly org' -a delete -d 'Delete one with its policies, licenses, tokens and analytics'
complete -c dlpctl -n '__dlpctl_exactly org' -s h -l help -d 'Show this message and exit'

# dlpctl org list
complete -c dlpctl -n '__dlpctl_at org list' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at org list' -l server -x -d 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'
complete -c dlpctl -n '__dlpctl_at org list' -s h -l help -d 'Show this message and exit'

# dlpctl org create
complete -c dlpctl -n '__dlpctl_at org create' -l slug -x -d 'What commands and addresses call it'
complete -c dlpctl -n '__dlpctl_at org create' -l set -x -d 'A setting, such as admin_email'
complete -c dlpctl -n '__dlpctl_at org create' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at org create' -l server -x -d 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'
complete -c dlpctl -n '__dlpctl_at org create' -s h -l help -d 'Show this message and exit'

# dlpctl org show
complete -c dlpctl -n '__dlpctl_at org show' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at org show' -l server -x -d 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'
complete -c dlpctl -n '__dlpctl_at org show' -s h -l help -d 'Show this message and exit'
complete -c dlpctl -n '__dlpctl_at org show' -f -a '(dlpctl __complete organizations)'

# dlpctl org update
complete -c dlpctl -n '__dlpctl_at org update' -l name -x -d 'A new name'
complete -c dlpctl -n '__dlpctl_at org update' -l set -x -d 'A setting, such as admin_email'
complete -c dlpctl -n '__dlpctl_at org update' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at org update' -l server -x -d 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'
complete -c dlpctl -n '__dlpctl_at org update' -s h -l help -d 'Show this message and exit'
complete -c dlpctl -n '__dlpctl_at org update' -f -a '(dlpctl __complete organizations)'

# dlpctl org delete
complete -c dlpctl -n '__dlpctl_at org delete' -l yes -d 'Do it'
complete -c dlpctl -n '__dlpctl_at org delete' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at org delete' -l server -x -d 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'
complete -c dlpctl -n '__dlpctl_at org delete' -s h -l help -d 'Show this message and exit'
complete -c dlpctl -n '__dlpctl_at org delete' -f -a '(dlpctl __complete organizations)'

# dlpctl group
complete -c dlpctl -n '__dlpctl_exactly group' -a list -d 'List those of an organization'
complete -c dlpctl -n '__dlpctl_exactly group' -a create -d 'Create one'
complete -c dlpctl -n '__dlpctl_exactly group' -a show -d 'Print one'
complete -c dlpctl -n '__dlpctl_exactly group' -a update -d 'Change it'
complete -c dlpctl -n '__dlpctl_exactly group' -a delete -d 'Delete it'
complete -c dlpctl -n '__dlpctl_exactly group' -s h -l help -d 'Show this message and exit'

# dlpctl group list
complete -c dlpctl -n '__dlpctl_at group list' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at group list' -l server -x -d 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'
complete -c dlpctl -n '__dlpctl_at group list' -s h -l help -d 'Show this message and exit'
complete -c dlpctl -n '__dlpctl_at group list' -f -a '(dlpctl __complete organizations)'

# dlpctl group create
complete -c dlpctl -n '__dlpctl_at group create' -l description -x -d 'What it is for'
complete -c dlpctl -n '__dlpctl_at group create' -l policy -r -f -a '(dlpctl __complete stored-policies)' -d 'A policy that it holds'
complete -c dlpctl -n '__dlpctl_at group create' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at group create' -l server -x -d 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'
complete -c dlpctl -n '__dlpctl_at group create' -s h -l help -d 'Show this message and exit'
complete -c dlpctl -n '__dlpctl_at group create' -f -a '(dlpctl __complete organizations)'

# dlpctl group show
complete -c dlpctl -n '__dlpctl_at group show' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at group show' -l server -x -d 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'
complete -c dlpctl -n '__dlpctl_at group show' -s h -l help -d 'Show this message and exit'
complete -c dlpctl -n '__dlpctl_at group show' -f -a '(dlpctl __complete organizations)'

# dlpctl group update
complete -c dlpctl -n '__dlpctl_at group update' -l name -x -d 'A new name'
complete -c dlpctl -n '__dlpctl_at group update' -l description -x -d 'What it is for'
complete -c dlpctl -n '__dlpctl_at group update' -l policy -r -f -a '(dlpctl __complete stored-policies)' -d 'A policy that it holds'
complete -c dlpctl -n '__dlpctl_at group update' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at group update' -l server -x -d 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'
complete -c dlpctl -n '__dlpctl_at group update' -s h -l help -d 'Show this message and exit'
complete -c dlpctl -n '__dlpctl_at group update' -f -a '(dlpctl __complete organizations)'

# dlpctl group delete
complete -c dlpctl -n '__dlpctl_at group delete' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at group delete' -l server -x -d 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'
complete -c dlpctl -n '__dlpctl_at group delete' -s h -l help -d 'Show this message and exit'
complete -c dlpctl -n '__dlpctl_at group delete' -f -a '(dlpctl __complete organizations)'

# dlpctl license
complete -c dlpctl -n '__dlpctl_exactly license' -a list -d 'List those of an organization'
complete -c dlpctl -n '__dlpctl_exactly license' -a create -d 'Create one'
complete -c dlpctl -n '__dlpctl_exactly license' -a extend -d 'Let it last longer, or allow more'
complete -c dlpctl -n '__dlpctl_exactly license' -a revoke -d 'Revoke it, which deactivates the policies of its groups at once'
complete -c dlpctl -n '__dlpctl_exactly license' -a validate -d 'Ask what a license key is good for'
complete -c dlpctl -n '__dlpctl_exactly license' -a public-key -d 'Print the key that verifies license tokens'
complete -c dlpctl -n '__dlpctl_exactly license' -a rotate-keys -d 'Sign license tokens with a new key from now on'
complete -c dlpctl -n '__dlpctl_exactly license' -s h -l help -d 'Show this message and exit'

# dlpctl license list
complete -c dlpctl -n '__dlpctl_at license list' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at license list' -l server -x -d 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'
complete -c dlpctl -n '__dlpctl_at license list' -s h -l help -d 'Show this message and exit'
complete -c dlpctl -n '__dlpctl_at license list' -f -a '(dlpctl __complete organizations)'

# dlpctl license create
complete -c dlpctl -n '__dlpctl_at license create' -l type -x -d 'trial, standard or enterprise'
complete -c dlpctl -n '__dlpctl_at license create' -l expires -x -d 'A day or a moment, as in 2027-01-31 or 2027-01-31T12:00Z.'
complete -c dlpctl -n '__dlpctl_at license create' -l checks -x -d 'Checks a month, where the plan\'s are not right'
complete -c dlpctl -n '__dlpctl_at license create' -l group -x -d 'A policy group that it covers'
complete -c dlpctl -n '__dlpctl_at license create' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at license create' -l server -x -d 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'
complete -c dlpctl -n '__dlpctl_at license create' -s h -l help -d 'Show this message and exit'
complete -c dlpctl -n '__dlpctl_at license create' -f -a '(dlpctl __complete organizations)'

# dlpctl license extend
complete -c dlpctl -n '__dlpctl_at license extend' -l type -x -d 'Another plan'
complete -c dlpctl -n '__dlpctl_at license extend' -l expires -x -d 'A day or a moment, as in 2027-01-31 or 2027-01-31T12:00Z.'
complete -c dlpctl -n '__dlpctl_at license extend' -l checks -x -d 'Checks a month, where the plan\'s are not right'
complete -c dlpctl -n '__dlpctl_at license extend' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at license extend' -l server -x -d 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'
complete -c dlpctl -n '__dlpctl_at license extend' -s h -l help -d 'Show this message and exit'
complete -c dlpctl -n '__dlpctl_at license extend' -f -a '(dlpctl __complete organizations)'

# dlpctl license revoke
complete -c dlpctl -n '__dlpctl_at license revoke' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at license revoke' -l server -x -d 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'
complete -c dlpctl -n '__dlpctl_at license revoke' -s h -l help -d 'Show this message and exit'
complete -c dlpctl -n '__dlpctl_at license revoke' -f -a '(dlpctl __complete organizations)'

# dlpctl license validate
complete -c dlpctl -n '__dlpctl_at license validate' -l key -x -d 'The license key'
complete -c dlpctl -n '__dlpctl_at license validate' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at license validate' -l server -x -d 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'
complete -c dlpctl -n '__dlpctl_at license validate' -s h -l help -d 'Show this message and exit'

# dlpctl license public-key
complete -c dlpctl -n '__dlpctl_at license public-key' -l key-id -x -d 'An older one'
complete -c dlpctl -n '__dlpctl_at license public-key' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at license public-key' -l server -x -d 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'
complete -c dlpctl -n '__dlpctl_at license public-key' -s h -l help -d 'Show this message and exit'

# dlpctl license rotate-keys
complete -c dlpctl -n '__dlpctl_at license rotate-keys' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at license rotate-keys' -l server -x -d 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'
complete -c dlpctl -n '__dlpctl_at license rotate-keys' -s h -l help -d 'Show this message and exit'

# dlpctl token
complete -c dlpctl -n '__dlpctl_exactly token' -a list -d 'List them, without the tokens themselves'
complete -c dlpctl -n '__dlpctl_exactly token' -a create -d 'Create one'
complete -c dlpctl -n '__dlpctl_exactly token' -a revoke -d 'Revoke one'
complete -c dlpctl -n '__dlpctl_exactly token' -s h -l help -d 'Show this message and exit'

# dlpctl token list
complete -c dlpctl -n '__dlpctl_at token list' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at token list' -l server -x -d 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'
complete -c dlpctl -n '__dlpctl_at token list' -s h -l help -d 'Show this message and exit'

# dlpctl token create
complete -c dlpctl -n '__dlpctl_at token create' -l role -x -d 'admin'
complete -c dlpctl -n '__dlpctl_at token create' -l org -r -f -a '(dlpctl __complete organizations)' -d 'The only organization that it sees'
complete -c dlpctl -n '__dlpctl_at token create' -l name -x -d 'What or whom it is for'
complete -c dlpctl -n '__dlpctl_at token create' -l expires -x -d 'A day or a moment, as in 2027-01-31 or 2027-01-31T12:00Z.'
complete -c dlpctl -n '__dlpctl_at token create' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at token create' -l server -x -d 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'
complete -c dlpctl -n '__dlpctl_at token create' -s h -l help -d 'Show this message and exit'

# dlpctl token revoke
complete -c dlpctl -n '__dlpctl_at token revoke' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at token revoke' -l server -x -d 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'
complete -c dlpctl -n '__dlpctl_at token revoke' -s h -l help -d 'Show this message and exit'

# dlpctl analytics
complete -c dlpctl -n '__dlpctl_at analytics' -l period -x -d '7d, 30d or 90d'
complete -c dlpctl -n '__dlpctl_at analytics' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at analytics' -l server -x -d 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'
complete -c dlpctl -n '__dlpctl_at analytics' -s h -l help -d 'Show this message and exit'
complete -c dlpctl -n '__dlpctl_at analytics' -f -a '(dlpctl __complete organizations)'

# dlpctl audit
complete -c dlpctl -n '__dlpctl_exactly audit' -a list -d 'List checks, the newest first'
complete -c dlpctl -n '__dlpctl_exactly audit' -a export -d 'Write all of them, the newest first'
complete -c dlpctl -n '__dlpctl_exactly audit' -a verify -d 'Follow the chain of hashes through the log'
complete -c dlpctl -n '__dlpctl_exactly audit' -s h -l help -d 'Show this message and exit'

# dlpctl audit list
complete -c dlpctl -n '__dlpctl_at audit list' -l org -r -f -a '(dlpctl __complete organizations)' -d 'Of this organization alone'
complete -c dlpctl -n '__dlpctl_at audit list' -l search -x -d 'In summary, policy, organization and destination'
complete -c dlpctl -n '__dlpctl_at audit list' -l limit -x -d 'How many'
complete -c dlpctl -n '__dlpctl_at audit list' -l offset -x -d 'After how many'
complete -c dlpctl -n '__dlpctl_at audit list' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at audit list' -l server -x -d 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'
complete -c dlpctl -n '__dlpctl_at audit list' -s h -l help -d 'Show this message and exit'

# dlpctl audit export
complete -c dlpctl -n '__dlpctl_at audit export' -l org -r -f -a '(dlpctl __complete organizations)' -d 'Of this organization alone'
complete -c dlpctl -n '__dlpctl_at audit export' -l search -x -d 'In summary, policy, organization and destination'
complete -c dlpctl -n '__dlpctl_at audit export' -s f -l format -r -f -a 'jsonl csv' -d 'One JSON object a line, or CSV.'
complete -c dlpctl -n '__dlpctl_at audit export' -s o -l output -r -F -d 'Write here instead of stdout, at the end'
complete -c dlpctl -n '__dlpctl_at audit export' -l server -x -d 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'
complete -c dlpctl -n '__dlpctl_at audit export' -s h -l help -d 'Show this message and exit'

# dlpctl audit verify
complete -c dlpctl -n '__dlpctl_at audit verify' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at audit verify' -l server -x -d 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'
complete -c dlpctl -n '__dlpctl_at audit verify' -s h -l help -d 'Show this message and exit'

# dlpctl db
complete -c dlpctl -n '__dlpctl_exactly db' -a check -d 'Look whether it is whole'
complete -c dlpctl -n '__dlpctl_exactly db' -a backup -d 'Copy it while others use it'
complete -c dlpctl -n '__dlpctl_exactly db' -a restore -d 'Put a backup in its place'
complete -c dlpctl -n '__dlpctl_exactly db' -a vacuum -d 'Give the space of what was removed back to the disk'
complete -c dlpctl -n '__dlpctl_exactly db' -a prune -d 'Remove old checks from the audit log'
complete -c dlpctl -n '__dlpctl_exactly db' -s h -l help -d 'Show this message and exit'

# dlpctl db check
complete -c dlpctl -n '__dlpctl_at db check' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at db check' -s h -l help -d 'Show this message and exit'

# dlpctl db backup
complete -c dlpctl -n '__dlpctl_at db backup' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at db backup' -s h -l help -d 'Show this message and exit'
complete -c dlpctl -n '__dlpctl_at db backup' -F

# dlpctl db restore
complete -c dlpctl -n '__dlpctl_at db restore' -l yes -d 'Replace what is there now'
complete -c dlpctl -n '__dlpctl_at db restore' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at db restore' -s h -l help -d 'Show this message and exit'
complete -c dlpctl -n '__dlpctl_at db restore' -F

# dlpctl db vacuum
complete -c dlpctl -n '__dlpctl_at db vacuum' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at db vacuum' -s h -l help -d 'Show this message and exit'

# dlpctl db prune
complete -c dlpctl -n '__dlpctl_at db prune' -l older-than -x -d 'Of the checks to remove'
complete -c dlpctl -n '__dlpctl_at db prune' -s f -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at db prune' -s h -l help -d 'Show this message and exit'

# dlpctl serve
complete -c dlpctl -n '__dlpctl_at serve' -l host -x -d 'To listen on'
complete -c dlpctl -n '__dlpctl_at serve' -l port -x -d '8686'
complete -c dlpctl -n '__dlpctl_at serve' -l unix-socket -r -F -d 'Listen on a socket in the file system instead'
complete -c dlpctl -n '__dlpctl_at serve' -l allow-remote -d 'Allow an ADDRESS that other machines reach, without encryption'
complete -c dlpctl -n '__dlpctl_at serve' -l trusted-proxy -x -d 'A proxy whose X-Forwarded headers say who asks for what'
complete -c dlpctl -n '__dlpctl_at serve' -s h -l help -d 'Show this message and exit'

# dlpctl apply
complete -c dlpctl -n '__dlpctl_at apply' -s f -l file -r -F -d 'TOML, YAML or JSON.'
complete -c dlpctl -n '__dlpctl_at apply' -l dry-run -d 'Say what would change, and change nothing'
complete -c dlpctl -n '__dlpctl_at apply' -l format -r -f -a 'human json' -d 'For people or for programs'
complete -c dlpctl -n '__dlpctl_at apply' -l server -x -d 'Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock'
complete -c dlpctl -n '__dlpctl_at apply' -s h -l help -d 'Show this message and exit'
