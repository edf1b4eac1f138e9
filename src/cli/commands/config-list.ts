import { listSettings, type SettingObject } from '../../actions/config.ts';
import { maskUrls } from '../../core/mask.ts';
import { type Context, defineCommand } from '../command.ts';
import { listFlags } from '../layout.ts';
import { printList } from '../print-list.ts';
import type { Column } from '../table.ts';
import { timesFor } from '../times.ts';

export default defineCommand({
  name: 'config list',
  summary: 'List all settings with their values',
  args: '',
  most: 0,
  flags: listFlags('{key}\\t{value}'),
  prints: { object: 'Setting' },
  examples: ['queuectl config list', 'queuectl config list --json=key,value'],
  async run(context) {
    await printSettings(context, await listSettings(await context.app()));
    return 0;
  },
});

export async function printSettings({ io, app }: Context, settings: SettingObject[]): Promise<void> {
  const times = timesFor(io, (await app()).clock.now());
  await printList(
    io,
    { columns: COLUMNS, times, id: (setting) => setting.key, object: (setting) => setting },
    settings,
  );
}

const COLUMNS: Column<SettingObject>[] = [
  { title: 'KEY', value: (setting) => setting.key },
  {
    title: 'VALUE',
    value: (setting) => maskUrls(setting.text),
    shrinks: true,
    color: (setting) => (setting.is_default ? 'dim' : 'green'),
  },
  { title: 'DESCRIPTION', value: (setting) => setting.help, shrinks: true, least: 16, drop: 0 },
];
