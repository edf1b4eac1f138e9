import { listSettings } from '../../actions/config.ts';
import { maskUrls } from '../../core/mask.ts';
import type { SettingObject } from '../../core/wire.ts';
import { defineCommand } from '../command.ts';
import { listFlags } from '../layout.ts';
import { printList } from '../print-list.ts';
import type { Column } from '../table.ts';
import { timesFor } from '../times.ts';

export default defineCommand({
  name: 'config list',
  summary: 'List all settings with their values',
  flags: listFlags('{key}\\t{value}'),
  prints: { object: 'Setting' },
  examples: ['queuectl config list', 'queuectl config list --json=key,value'],
  async run(context) {
    const { io } = context;
    const app = await context.app();
    const times = timesFor(io, app.clock.now());
    await printList(
      io,
      { columns: COLUMNS, times, id: (setting) => setting.key, object: (setting) => setting },
      await listSettings(app),
    );
  },
});

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
