import { getSetting } from '../../actions/config.ts';
import { required } from '../arguments.ts';
import type { Command } from '../command.ts';

export default {
  name: 'config get',
  summary: 'Print the value of a setting',
  args: 'KEY',
  most: 1,
  flags: {},
  examples: ['queuectl config get max-retries'],
  async run({ io, app }, input) {
    const key = required(input, 0, 'the name of a setting', 'queuectl config list');
    const setting = await getSetting(await app(), key);
    io.out(io.json ? `${JSON.stringify(setting)}\n` : `${setting.text}\n`);
    return 0;
  },
} satisfies Command as Command;
