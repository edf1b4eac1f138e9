import { defineCommand } from '../command.ts';
import { FILTER_FLAGS, LIMIT_FLAG, readFilter, readLimit } from '../filters.ts';
import { deadColumns } from '../job-table.ts';
import { listFlags } from '../layout-flags.ts';
import { printJobs } from '../list-jobs.ts';

const { state: _, 'waiting-for': __, ...FLAGS } = FILTER_FLAGS;

export default defineCommand({
  name: 'dlq list',
  summary: 'List dead jobs, newest first',
  flags: { ...FLAGS, limit: LIMIT_FLAG, ...listFlags('{id}\\t{exit_code}') },
  prints: { object: 'Job' },
  examples: ['queuectl dlq list', 'queuectl dlq list --json', 'queuectl dlq list --format csv --header'],
  usageHint: ([first = '']) =>
    first.startsWith('-') ? undefined : `to show a dead job: queuectl dlq show ${first}`,
  async run(context, input) {
    const filter = { ...readFilter(input, Date.now()), states: ['dead' as const] };
    await printJobs(context, filter, readLimit(input), deadColumns, 'the dead letter queue is empty');
  },
});
