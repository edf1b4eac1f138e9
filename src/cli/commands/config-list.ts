import { listSettings } from '../../actions/config.ts';
import type { Command } from '../command.ts';
import { printTable } from '../table.ts';

export default {
  name: 'config list',
  summary: 'List every setting with its value',
  args: '',
  most: 0,
  flags: {},
  examples: ['queuectl config list', 'queuectl config list --json'],
  async run(context) {
    const { io } = context;
    const settings = await listSettings(await context.app());
    if (io.json) {
      io.out(`${JSON.stringify(settings)}\n`);
      return 0;
    }
    printTable(
      io,
      [
        { title: 'KEY', value: (setting) => setting.key },
        {
          title: 'VALUE',
          value: (setting) => setting.text,
          shrinks: true,
          color: (setting) => (setting.is_default ? 'dim' : 'green'),
        },
        { title: 'MEANING', value: (setting) => setting.help, shrinks: true },
      ],
      settings,
    );
    return 0;
  },
} satisfies Command as Command;
