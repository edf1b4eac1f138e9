import { previewRenewal, refuseRenewingFile, renewStore } from '../../actions/renew.ts';
import { countOf } from '../../core/words.ts';
import { defineCommand } from '../command.ts';
import { askToConfirm } from '../job-action-command.ts';
import { printResult } from '../print-result.ts';

export default defineCommand({
  name: 'db renew',
  summary: 'Make a queue usable after pg_restore',
  access: 'write',
  flags: { yes: { short: 'y', help: 'do not ask for confirmation' } },
  examples: ['queuectl db renew', 'queuectl db renew --yes --db postgres://app@db2/app'],
  notes: [
    'Run this command after pg_restore, before any worker starts. It gives the queue a new identity, removes the registered workers, and puts the jobs that were running during the backup back into their queues. Their crash count increases by one. At-most-once jobs become dead instead.',
    'Never run it on a queue whose workers are running, because their jobs would run twice.',
  ],
  async run(context, input) {
    const { io } = context;
    await refuseRenewingFile(context.location);
    const app = await context.app({ ifMissing: 'refuse' });
    const { workers, running } = await previewRenewal(app);
    const found = `${countOf(workers, 'worker')}, ${countOf(running, 'running job')}`;
    const question = `renew ${await context.storeName()} (${found})?`;
    if (!input.has('yes') && !askToConfirm(context, question, 'to confirm: queuectl db renew --yes'))
      return 1;
    const renewed = await renewStore(app);
    printResult(io, renewed, `renewed a queue of ${countOf(renewed.jobs)}`, renewed.jobs);
    return 0;
  },
});
