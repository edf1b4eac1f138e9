import { getSetting } from '../../actions/config.ts';
import { defineCommand } from '../command.ts';
import { jsonText } from '../layout.ts';
import { printable } from '../text.ts';
import configList, { printSettings } from './config-list.ts';

export default defineCommand({
  name: 'config get',
  summary: 'Print the value of a setting, or all settings',
  args: '[KEY]',
  flags: configList.flags,
  prints: { object: 'Setting' },
  examples: ['queuectl config get max-retries', 'queuectl config get'],
  async run(context, input) {
    const { io } = context;
    const [key] = input.args;
    if (key === undefined) return configList.run(context, input);
    const setting = await getSetting(await context.app(), key);
    if (input.has('format')) await printSettings(context, [setting]);
    else if (io.json) io.out(`${jsonText(io, setting)}\n`);
    else io.out(`${io.tty ? printable(setting.text) : setting.text}\n`);
    return undefined;
  },
});
