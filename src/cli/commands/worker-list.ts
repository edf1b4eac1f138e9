import { listWorkers } from '../../actions/workers.ts';
import { defineCommand } from '../command.ts';
import { listFlags } from '../layout-flags.ts';
import { printList } from '../print-list.ts';
import { WORKER_LIST } from '../worker-table.ts';

export default defineCommand({
  name: 'worker list',
  summary: 'List active workers',
  flags: listFlags('{id}\\t{status}'),
  prints: { object: 'Worker' },
  examples: ['queuectl worker list', 'queuectl worker list --json=id,status,current_jobs'],
  async run({ io, app }) {
    const opened = await app();
    const workers = await listWorkers(opened);
    await printList(io, WORKER_LIST, workers, opened.clock.now());
    if (workers.length === 0) io.note('no worker is running; to start one: queuectl worker start');
  },
});
