import { checkDatabase } from '../../actions/db.ts';
import type { Command } from '../command.ts';
import { printable } from '../text.ts';

export default {
  name: 'db check',
  summary: 'Check the database and everything in it; workers go on',
  args: '',
  most: 0,
  flags: {},
  examples: ['queuectl db check', 'queuectl db check --db /backup/queue.db'],
  notes: [
    'Reads the whole file: its pages and indexes, references, counters against rows,',
    'running jobs against their attempts, settings. Exits with 1 and says what is wrong.',
  ],
  async run({ io, location }) {
    const { fix, ...check } = await checkDatabase(location);
    if (io.json) io.out(`${JSON.stringify(check)}\n`);
    else if (check.ok) io.out('ok\n');
    else for (const problem of check.problems) io.out(`${printable(problem)}\n`);
    if (fix !== null && !io.json) io.err(`  try: ${fix}\n`);
    return check.ok ? 0 : 1;
  },
} satisfies Command as Command;
