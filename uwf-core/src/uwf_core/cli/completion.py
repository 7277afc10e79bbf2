"""`uwf completion`: the script by which a shell asks uwf for completions."""

BASH = r"""_uwf() {
    local line word="${COMP_WORDS[COMP_CWORD]}"
    COMPREPLY=()
    while IFS= read -r line; do
        case "$line" in
            :file) compopt -o filenames 2>/dev/null
                while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$word") ;;
            :dir) compopt -o filenames 2>/dev/null
                while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -d -- "$word") ;;
            *) COMPREPLY+=("$line") ;;
        esac
    done < <(uwf __complete bash "$COMP_CWORD" "${COMP_WORDS[@]}" 2>/dev/null)
}
complete -F _uwf uwf
"""

ZSH = r"""#compdef uwf
_uwf() {
    local line
    local -a found
    for line in "${(@f)$(uwf __complete zsh $((CURRENT - 1)) "${words[@]}" 2>/dev/null)}"; do
        case "$line" in
            "") ;;
            :file) _files ;;
            :dir) _files -/ ;;
            *) found+=("$line") ;;
        esac
    done
    (( $#found )) && _describe 'uwf' found
}
if [ "$funcstack[1]" = "_uwf" ]; then _uwf "$@"; else compdef _uwf uwf; fi
"""

FISH = r"""function __uwf_complete
    set -l before (commandline -opc)
    set -l word (commandline -ct)
    for line in (uwf __complete fish (count $before) $before "$word" 2>/dev/null)
        switch $line
            case :file
                __fish_complete_path "$word"
            case :dir
                __fish_complete_directories "$word"
            case '*'
                echo $line
        end
    end
end
complete -c uwf -f -a '(__uwf_complete)'
"""

SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH}


def completion_script(shell: str) -> dict[str, str]:
    """The script of a shell."""
    return {"shell": shell, "script": SCRIPTS[shell]}
