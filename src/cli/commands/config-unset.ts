import { unsetAllSettings, unsetSetting } from '../../actions/config.ts';
import { usageError } from '../../core/errors.ts';
import { defineCommand } from '../command.ts';
import { jsonText } from '../layout.ts';
import { printable } from '../text.ts';

export default defineCommand({
  name: 'config unset',
  summary: 'Reset a setting to its default',
  args: '(KEY | --all)',
  access: 'write',
  flags: { all: { help: 'reset all settings' } },
  prints: { object: 'Setting' },
  examples: ['queuectl config unset max-retries', 'queuectl config unset --all'],
  async run({ io, app }, input) {
    const all = input.has('all');
    if (all && input.args.length > 0) throw usageError('use a setting or --all, not both');
    if (!all)
      input.required(0, 'the name of the setting, or --all,', 'to list the settings: queuectl config list');
    const settings = all
      ? await unsetAllSettings(await app())
      : [await unsetSetting(await app(), input.args[0]!)];
    const texts = settings.map((setting) => jsonText(io, setting));
    if (io.json) io.out(all ? `[${texts.join(',')}]\n` : `${texts[0]}\n`);
    else for (const { key, text } of settings) io.out(`${key} = ${io.tty ? printable(text) : text}\n`);
    if (all && settings.length === 0) io.note('all settings already had their default values');
  },
});
