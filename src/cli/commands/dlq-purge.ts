import { countJobs } from '../../actions/jobs.ts';
import { previewPurge, purgeDead } from '../../actions/purge.ts';
import { selectJobs } from '../../actions/select.ts';
import { usageError } from '../../core/errors.ts';
import { countOf } from '../../core/words.ts';
import { defineCommand } from '../command.ts';
import { askToConfirm, DRY_RUN_FLAG, SHORT_IDS_NOTE } from '../job-action-command.ts';
import { printChanged } from '../print-result.ts';
import { reportPreview } from '../report-action.ts';

export default defineCommand({
  name: 'dlq purge',
  summary: 'Delete dead jobs and their output permanently',
  args: '[ID… | --all]',
  access: 'write',
  flags: {
    all: { help: 'delete all dead jobs; the default without ids' },
    yes: { short: 'y', help: 'do not ask for confirmation' },
    ...DRY_RUN_FLAG,
  },
  examples: ['queuectl dlq purge job2', 'queuectl dlq purge --yes'],
  notes: ['Without ids, the command deletes all dead jobs.', SHORT_IDS_NOTE],
  async run(context, input) {
    if (input.has('all') && input.args.length > 0) throw usageError('use job ids or --all, not both');
    const app = await context.app();
    const ids = input.args.length === 0 ? null : await selectJobs(app, { references: input.args });
    if (input.has('dry-run')) return reportPreview(context, app, 'purged', await previewPurge(app, ids));
    if (ids === null && !input.has('yes')) {
      const total = await countJobs(app, { states: ['dead'] });
      const question = `permanently delete ${countOf(total, 'dead job')}?`;
      if (total > 0 && !askToConfirm(context, question, 'add --yes to confirm')) return 1;
    }
    printChanged(context.io, 'purged', await purgeDead(app, ids));
    return 0;
  },
});
