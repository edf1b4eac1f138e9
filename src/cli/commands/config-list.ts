import { listSettings } from '../../actions/config.ts';
import { maskUrls } from '../../core/mask.ts';
import type { SettingObject } from '../../core/wire.ts';
import { type Context, defineCommand } from '../command.ts';
import { listFlags } from '../layout-flags.ts';
import { type Listing, printList } from '../print-list.ts';

export default defineCommand({
  name: 'config list',
  summary: 'List all settings with their values',
  flags: listFlags('{key}\\t{value}'),
  prints: { object: 'Setting' },
  examples: ['queuectl config list', 'queuectl config list --json=key,value'],
  async run(context) {
    await printSettings(context, await listSettings(await context.app()));
  },
});

export async function printSettings({ io, app }: Context, settings: SettingObject[]): Promise<void> {
  await printList(io, SETTING_LIST, settings, (await app()).clock.now());
}

const SETTING_LIST: Listing<SettingObject> = {
  id: (setting) => setting.key,
  columns: () => [
    { title: 'KEY', value: (setting) => setting.key },
    {
      title: 'VALUE',
      value: (setting) => maskUrls(setting.text),
      shrinks: true,
      color: (setting) => (setting.is_default ? 'dim' : 'green'),
    },
    { title: 'DESCRIPTION', value: (setting) => setting.help, shrinks: true, least: 16, drop: 0 },
  ],
};
