import { invalidValue } from '../../core/errors.ts';
import { entryOf } from '../../core/text/language.ts';
import { COMPLETE_COMMAND, defineCommand } from '../frame/command.ts';

export default defineCommand({
  name: 'completion',
  summary: 'Print a shell completion script',
  args: 'bash|zsh|fish',
  examples: [
    '# Enable completion in the current shell only',
    'source <(queuectl completion bash)',
    '# Enable it permanently (start a new shell afterwards)',
    'queuectl completion bash >~/.local/share/bash-completion/completions/queuectl',
    'queuectl completion zsh >$fpath[1]/_queuectl',
    'queuectl completion fish >~/.config/fish/completions/queuectl.fish',
  ],
  notes: [
    'If the directory for bash does not exist, create it first: mkdir -p ~/.local/share/bash-completion/completions',
    'The script completes commands, flags, job ids, queues, settings and file names.',
  ],
  async run({ io }, input) {
    const shell = input.required(0, 'the name of the shell', 'for example: queuectl completion bash');
    const script = entryOf(COMPLETION_SCRIPTS, shell);
    if (script === undefined)
      throw invalidValue(
        `there is no completion script for '${shell}'`,
        `use one of ${Object.keys(COMPLETION_SCRIPTS).join(', ')}`,
      );
    io.out(io.json ? `${JSON.stringify({ shell, script })}\n` : script);
  },
});

/** bash splits words at = and :, so this script takes the words from the line itself. */
const bash = `# bash completion for queuectl: source <(queuectl completion bash)
_queuectl() {
  local line=\${COMP_LINE:0:COMP_POINT} IFS=$' \\t\\n' answer words value cur=\${COMP_WORDS[COMP_CWORD]}
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=('')
  local typed=\${words[\${#words[@]}-1]}
  COMPREPLY=()
  answer=$("$1" ${COMPLETE_COMMAND} "\${words[@]:1}" 2>/dev/null) || return
  case $answer in
    :files) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return ;;
    :dirs) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "$cur"); return ;;
    '') return ;;
  esac
  # The part before the last = or : does not belong to the word that bash replaces.
  local kept=\${typed%"$cur"}
  [[ $cur == = || $cur == : ]] && kept=$typed
  while IFS=$'\\t' read -r value _; do
    value=\${value#"$kept"}
    printf -v value %q "$value"
    # A comma needs no quotes, and quoted it would not match what was typed.
    COMPREPLY+=("\${value//\\\\,/,}")
  done <<<"$answer"
  [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == *= ]] && compopt -o nospace
  return 0
}
complete -F _queuectl queuectl
`;

const zsh = `#compdef queuectl
# zsh completion for queuectl: queuectl completion zsh >$fpath[1]/_queuectl
_queuectl() {
  local line
  local -a answer described
  answer=("\${(@f)$("\${words[1]}" ${COMPLETE_COMMAND} "\${(@)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)}")
  case $answer[1] in
    :files) _files; return ;;
    :dirs) _files -/; return ;;
    '') return 1 ;;
  esac
  for line in "\${answer[@]}"; do
    described+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  _describe -V 'queuectl' described
}
if [[ $funcstack[1] == _queuectl ]]; then
  _queuectl "$@"
else
  compdef _queuectl queuectl
fi
`;

const fish = `# fish completion for queuectl: queuectl completion fish >~/.config/fish/completions/queuectl.fish
function __queuectl_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l answer ($words[1] ${COMPLETE_COMMAND} $words[2..-1] "$current" 2>/dev/null)
    switch "$answer[1]"
        case ':files'
            __fish_complete_path "$current"
        case ':dirs'
            __fish_complete_directories "$current"
        case '*'
            printf '%s\\n' $answer
    end
end
complete -c queuectl -f -k -a '(__queuectl_complete)'
`;

/** A script for each shell. It gets its suggestions from `queuectl __complete`, so it is never out of date. */
const COMPLETION_SCRIPTS: Record<string, string> = { bash, zsh, fish };
