import { unsetSetting } from '../../actions/config.ts';
import { required } from '../arguments.ts';
import type { Command } from '../command.ts';

export default {
  name: 'config unset',
  summary: 'Put a setting back to its default',
  args: 'KEY',
  most: 1,
  flags: {},
  examples: ['queuectl config unset max-retries'],
  async run({ io, app }, input) {
    const key = required(input, 0, 'the name of a setting', 'queuectl config list');
    const setting = await unsetSetting(await app(), key);
    io.out(io.json ? `${JSON.stringify(setting)}\n` : `${setting.key} = ${setting.text}\n`);
    return 0;
  },
} satisfies Command as Command;
