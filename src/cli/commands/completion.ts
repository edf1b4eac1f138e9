import { entryOf } from '../../core/entry-of.ts';
import { invalidValue } from '../../core/errors.ts';
import { defineCommand } from '../command.ts';
import { COMPLETION_SCRIPTS } from '../completion-scripts.ts';

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
