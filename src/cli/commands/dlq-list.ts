import type { Command } from '../command.ts';
import { FILTER_FLAGS, readFilter, readLimit } from '../filters.ts';
import { deadColumns } from '../job-table.ts';
import { printJobs } from '../list-jobs.ts';

const { queue, limit } = FILTER_FLAGS;

export default {
  name: 'dlq list',
  summary: 'List dead jobs, newest first',
  args: '',
  most: 0,
  flags: { queue: queue!, limit: limit! },
  examples: ['queuectl dlq list', 'queuectl dlq list --json'],
  async run(context, input) {
    const filter = { ...readFilter(input), states: ['dead' as const] };
    await printJobs(context, filter, readLimit(input), deadColumns, 'the dead letter queue is empty');
    return 0;
  },
} satisfies Command as Command;
