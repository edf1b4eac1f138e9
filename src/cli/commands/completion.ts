import { QueueError } from '../../core/errors.ts';
import { required } from '../arguments.ts';
import type { Command } from '../command.ts';
import { COMPLETION_SCRIPTS } from '../completion-scripts.ts';

export default {
  name: 'completion',
  summary: 'Print a script with which a shell completes commands, flags, ids and more',
  args: 'bash|zsh|fish',
  most: 1,
  flags: {},
  examples: [
    'source <(queuectl completion bash)',
    'queuectl completion bash >~/.local/share/bash-completion/completions/queuectl',
    'queuectl completion zsh >$fpath[1]/_queuectl',
    'queuectl completion fish >~/.config/fish/completions/queuectl.fish',
  ],
  notes: ['The first line is for this shell only, the others are for good: start a new shell after them.'],
  async run({ io }, input) {
    const shell = required(input, 0, 'the name of a shell', 'queuectl completion bash');
    const script = COMPLETION_SCRIPTS[shell];
    if (script === undefined)
      throw new QueueError(
        'invalid-value',
        `there is no completion for '${shell}'`,
        `one of ${Object.keys(COMPLETION_SCRIPTS).join(', ')}`,
      );
    io.out(io.json ? `${JSON.stringify({ shell, script })}\n` : script);
    return 0;
  },
} satisfies Command as Command;
