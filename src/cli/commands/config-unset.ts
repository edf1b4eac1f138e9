import { unsetSetting } from '../../actions/config.ts';
import { defineCommand } from '../command.ts';
import { jsonText } from '../layout.ts';
import { printable } from '../text.ts';

export default defineCommand({
  name: 'config unset',
  summary: 'Reset a setting to its default',
  args: 'KEY',
  access: 'write',
  prints: { object: 'Setting' },
  examples: ['queuectl config unset max-retries'],
  async run({ io, app }, input) {
    const key = input.required(0, 'the name of the setting', 'to list the settings: queuectl config list');
    const setting = await unsetSetting(await app(), key);
    const text = `${setting.key} = ${io.tty ? printable(setting.text) : setting.text}`;
    io.out(`${io.json ? jsonText(io, setting) : text}\n`);
  },
});
