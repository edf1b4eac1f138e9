import { checkDatabase } from '../../actions/db.ts';
import { defineCommand } from '../command.ts';
import { printable } from '../text.ts';

export default defineCommand({
  name: 'db check',
  summary: 'Check the database for damage',
  examples: ['queuectl db check', 'queuectl db check --db /backup/queue.db'],
  notes: [
    'The command reads the whole database and checks pages, indexes, references, counters, running jobs and settings. Workers can keep running. If it finds problems, it prints them and exits with code 1.',
  ],
  async run({ io, location, storeTimeoutMs }) {
    const { fix, ...check } = await checkDatabase(location, storeTimeoutMs);
    if (io.json) io.out(`${JSON.stringify(check)}\n`);
    else if (check.ok) io.out('ok\n');
    else for (const problem of check.problems) io.out(`${printable(problem)}\n`);
    if (fix !== null && !io.json) io.err(`  ${fix}\n`);
    return check.ok ? 0 : 1;
  },
});
