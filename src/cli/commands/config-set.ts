import { setSetting } from '../../actions/config.ts';
import { required } from '../arguments.ts';
import type { Command } from '../command.ts';

export default {
  name: 'config set',
  summary: 'Change a setting; running workers follow within a heartbeat',
  args: 'KEY VALUE',
  most: 2,
  flags: {},
  examples: [
    'queuectl config set max-retries 5',
    'queuectl config set job-timeout 10m',
    'queuectl config set backoff_base 1.5',
  ],
  async run({ io, app }, input) {
    const key = required(input, 0, 'the name of a setting', 'queuectl config list');
    const value = required(input, 1, 'the value', `queuectl config set ${key} VALUE`);
    const setting = await setSetting(await app(), key, value);
    io.out(io.json ? `${JSON.stringify(setting)}\n` : `${setting.key} = ${setting.text}\n`);
    return 0;
  },
} satisfies Command as Command;
