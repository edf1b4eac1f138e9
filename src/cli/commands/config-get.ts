import { getSetting } from '../../actions/config.ts';
import { defineCommand } from '../command.ts';
import { jsonText } from '../layout.ts';
import { printable } from '../text.ts';

export default defineCommand({
  name: 'config get',
  summary: 'Print the value of a setting',
  args: 'KEY',
  prints: { object: 'Setting' },
  examples: ['queuectl config get max-retries'],
  async run({ io, app }, input) {
    const key = input.required(0, 'the name of the setting', 'to list the settings: queuectl config list');
    const setting = await getSetting(await app(), key);
    io.out(io.json ? `${jsonText(io, setting)}\n` : `${io.tty ? printable(setting.text) : setting.text}\n`);
  },
});
