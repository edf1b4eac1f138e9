import type { Command } from '../command.ts';
import { FILTER_FLAGS, LIMIT_FLAG, readFilter, readLimit } from '../filters.ts';
import { jobColumns } from '../job-table.ts';
import { printJobs } from '../list-jobs.ts';

export default {
  name: 'list',
  summary: 'List jobs, newest first',
  args: '',
  most: 0,
  flags: { ...FILTER_FLAGS, limit: LIMIT_FLAG },
  examples: [
    'queuectl list',
    'queuectl list --state failed,dead --queue mail',
    'queuectl list --state completed --json',
  ],
  async run(context, input) {
    const filter = readFilter(input, Date.now());
    const limit = readLimit(input);
    await printJobs(context, filter, limit, jobColumns, 'no job matches');
    return 0;
  },
} satisfies Command as Command;
