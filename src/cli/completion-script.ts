export const SHELLS = ['bash', 'zsh', 'fish'] as const

/**
 * Returns a shell's completion script. It passes the words to the hidden verb `__complete` and shows its output, so a
 * new verb or kind needs no new script.
 */
export function completionScript(shell: string): string | undefined {
  switch (shell) {
    case 'bash':
      return BASH
    case 'zsh':
      return ZSH
    case 'fish':
      return FISH
    default:
      return undefined
  }
}

const BASH = `# bash completion for croft. Load it with:  source <(croft completion bash)
_croft() {
  local IFS=$'\\n' word
  COMPREPLY=()
  while read -r word; do
    [[ -n $word ]] && COMPREPLY+=("\${word%%$'\\t'*}")
  done < <("\${COMP_WORDS[0]}" __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  if [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == :files ]]; then
    COMPREPLY=($(compgen -d -- "\${COMP_WORDS[COMP_CWORD]}"))
    compopt -o filenames 2>/dev/null
  fi
}
complete -F _croft croft
`

const ZSH = `#compdef croft
# zsh completion for croft. Load it with:  source <(croft completion zsh)
_croft() {
  local -a lines plain described
  local line
  lines=("\${(@f)$("\${words[1]}" __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ \${lines[1]} == ':files' ]]; then
    _files -/
    return
  fi
  for line in $lines; do
    [[ -z $line ]] && continue
    described+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  _describe 'croft' described
}
compdef _croft croft
`

const FISH = `# fish completion for croft. Load it with:  croft completion fish | source
function __croft_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l answer ($words[1] __complete -- $words[2..-1] 2>/dev/null)
  if test "$answer[1]" = ':files'
    __fish_complete_directories (commandline -ct)
  else
    printf '%s\\n' $answer
  end
end
complete -c croft -f -a '(__croft_complete)'
`
