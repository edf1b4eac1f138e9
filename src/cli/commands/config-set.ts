import { setSetting } from '../../actions/config.ts';
import { required } from '../arguments.ts';
import type { Command } from '../command.ts';
import { jsonText } from '../layout.ts';
import { printable } from '../text.ts';

export default {
  name: 'config set',
  summary: 'Change a setting; running workers follow within a heartbeat',
  args: 'KEY VALUE',
  most: 2,
  flags: {},
  prints: { object: 'Setting' },
  examples: [
    'queuectl config set max-retries 5',
    'queuectl config set job-timeout 10m',
    'queuectl config set backoff_base 1.5',
    'queuectl config set keep-completed 7d,100000',
    'queuectl config set on-dead \'logger "job $QUEUECTL_HOOK_JOB_ID: $QUEUECTL_HOOK_ERROR"\'',
  ],
  notes: [
    'keep-completed, keep-cancelled, keep-dead: an age (7d), a number of jobs',
    '(100000), a size (1G), several of them joined by commas (7d,1G: a job goes',
    'when any one is passed), or none to keep all. See queuectl help prune.',
    'on-complete, on-failure, on-dead, on-idle: a shell command, or none. It runs',
    'in your home directory as a job of the queue hooks, with QUEUECTL_HOOK_EVENT',
    '(complete, failure, dead, idle), _JOB_ID, _STATE, _EXIT_CODE, _ERROR, _QUEUE',
    'and _ATTEMPTS in its environment. on-failure runs after every failed attempt,',
    'the last one included, where on-dead follows; a cancelled or stopped attempt',
    'is no failure. on-idle runs once when an attempt ends and no job is ready,',
    'running or waiting for a retry; jobs due later, held or in paused queues do',
    'not count. A hook triggers no hooks, and neither does what it enqueues.',
  ],
  async run({ io, app }, input) {
    const key = required(input, 0, 'the name of a setting', 'queuectl config list');
    const value = required(input, 1, 'the value', `queuectl config set ${key} VALUE`);
    const setting = await setSetting(await app(), key, value);
    io.out(
      io.json
        ? `${jsonText(io, setting)}\n`
        : `${setting.key} = ${io.tty ? printable(setting.text) : setting.text}\n`,
    );
    return 0;
  },
} satisfies Command as Command;
