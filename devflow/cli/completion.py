"""`devflow completion bash|zsh|fish`: what makes a shell complete commands, options, statuses, kinds, names and ids.

For each press of the key the shell asks `devflow completion SHELL +WORD…`: the words typed so far, each behind a plus,
so that none is taken for an option. Nothing of it is loaded otherwise.
"""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from devflow.cli.output import Output, one_line
from devflow.cli.parser import Parser

if TYPE_CHECKING:
    from devflow.app.paths import AppPaths

SCRIPTS = {
    "bash": r"""# In ~/.bashrc: eval "$(devflow completion bash)"
_devflow() {
    local line word kind="" typed=("${COMP_WORDS[@]:1:COMP_CWORD}")
    COMPREPLY=()
    while IFS= read -r line; do
        if [ -z "$kind" ]; then kind=$line; continue; fi
        word=${line%%$'\t'*}
        COMPREPLY+=("$(printf '%q' "$word")")
    done < <("$1" completion bash "${typed[@]/#/+}" 2>/dev/null)
    case $kind in
        files) compopt -o default ;;
        folders) compopt -o dirnames ;;
    esac
}
complete -F _devflow devflow
""",
    "zsh": r"""#compdef devflow
# In ~/.zshrc, after compinit: eval "$(devflow completion zsh)"
_devflow() {
    local line
    local -a lines described
    lines=("${(@f)$("$words[1]" completion zsh "${(@)${(@Q)words[2,CURRENT]}/#/+}" 2>/dev/null)}")
    for line in "${(@)lines[2,-1]}"; do
        described+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    done
    (( $#described )) && _describe -V devflow described
    case $lines[1] in
        files) _files ;;
        folders) _files -/ ;;
    esac
}
(( $+functions[compdef] )) && compdef _devflow devflow
""",
    "fish": r"""# In ~/.config/fish/completions/devflow.fish, or: devflow completion fish | source
function __devflow_complete
    set -l words (commandline -opc)
    set -l last (commandline -ct)
    set -l lines ($words[1] completion fish +$words[2..] "+$last" 2>/dev/null)
    printf '%s\n' $lines[2..]
    switch "$lines[1]"
        case files
            __fish_complete_path "$last"
        case folders
            __fish_complete_directories "$last"
    end
end
complete -c devflow -f -a '(__devflow_complete)'
""",
}


def add(parser: Parser) -> None:
    parser.add_argument("shell", choices=[*SCRIPTS], metavar="SHELL", help=", ".join(SCRIPTS))
    parser.add_argument("words", metavar="WORD", nargs="*", help="the words typed so far, each behind a +")
    parser.set_defaults(run_alone=_run, leaves_nothing=True)


def _run(paths: AppPaths, args: Namespace, output: Output) -> int:
    if not args.words:
        output.text(SCRIPTS[args.shell])
        return 0
    from devflow.cli.completing import complete

    found = complete([word.removeprefix("+") for word in args.words])
    output.line(found.files or "words")
    for choice in found.choices:
        output.line(f"{one_line(choice.word)}\t{one_line(choice.about)[:80]}")
    return 0
