import type { ParsedArgs } from '../args/parsed-args.ts'
import type { Command, CommandContext } from '../context.ts'
import { choiceType } from '../args/value-types.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const

export const command: Command = {
  name: 'completion',
  group: 'Set-up',
  order: 30,
  summary: 'print a completion script for your shell',
  arguments: [{ valueType: choiceType('SHELL', SHELLS), summary: SHELLS.join(', '), isRequired: true }],
  options: [],
  examples: [
    {
      argv: ['completion', 'bash'],
      shell: '> ~/.local/share/bash-completion/completions/oneshot',
      description: 'bash',
    },
    { argv: ['completion', 'zsh'], shell: '> ~/.zfunc/_oneshot', description: 'zsh; ~/.zfunc must be in fpath' },
    { argv: ['completion', 'fish'], shell: '> ~/.config/fish/completions/oneshot.fish', description: 'fish' },
  ],
  run: completion,
}

async function completion(args: ParsedArgs, { screen }: CommandContext): Promise<number> {
  const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript }
  screen.out.printLine(scripts[args.positionals[0] as (typeof SHELLS)[number]].trim())
  return 0
}

/**
 * Each script passes the words unchanged to `oneshot __complete` and shows its answer. It evaluates nothing that the
 * user typed, and needs no completion package. The bash script works in bash 3.2, which macOS still has.
 */
export const bashScript = `
# oneshot completion for bash
_oneshot() {
  local IFS=$'\\n' at current line words=()
  # bash splits words at =, so they are put together again.
  for ((at = 1; at <= COMP_CWORD; at++)); do
    if ((at > 1)) && [[ \${COMP_WORDS[at]} == '=' || \${COMP_WORDS[at - 1]} == '=' ]]; then
      words[\${#words[@]} - 1]+=\${COMP_WORDS[at]}
    else
      words+=("\${COMP_WORDS[at]}")
    fi
  done
  current=\${words[\${#words[@]} - 1]}
  COMPREPLY=()
  while read -r line; do
    case $line in
      :files) compopt -o filenames 2>/dev/null; COMPREPLY+=($(compgen -f -- "\${current##*=}")) ;;
      :folders) compopt -o filenames 2>/dev/null; COMPREPLY+=($(compgen -d -- "\${current##*=}")) ;;
      :commands) COMPREPLY+=($(compgen -c -- "$current")) ;;
      *)
        line=\${line%%$'\\t'*}
        [[ $current == --*=* ]] && line=\${line#*=}
        COMPREPLY+=("$line")
        ;;
    esac
  done < <(oneshot __complete -- "\${words[@]}" 2>/dev/null)
}
complete -F _oneshot oneshot
`

export const zshScript = `
#compdef oneshot
# oneshot completion for zsh
_oneshot() {
  local line value
  local -a offers
  while IFS= read -r line; do
    case $line in
      :files) _files; return ;;
      :folders) _files -/; return ;;
      :commands) _command_names -e; return ;;
    esac
    value=\${line%%$'\\t'*}
    value=\${value//:/\\\\:}
    [[ $line == *$'\\t'* ]] && value+=:\${line#*$'\\t'}
    offers+=("$value")
  done < <(oneshot __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  _describe oneshot offers
}
if [[ $funcstack[1] == _oneshot ]]; then _oneshot "$@"; else compdef _oneshot oneshot; fi
`

export const fishScript = `
# oneshot completion for fish
function __oneshot_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l current $words[-1]
    for line in (oneshot __complete -- $words[2..-1] 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path $current
            case :folders
                __fish_complete_directories $current
            case :commands
                complete -C "$current"
            case '*'
                echo $line
        end
    end
end
complete -c oneshot -f -a '(__oneshot_complete)'
`
