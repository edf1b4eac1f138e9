import { continueJobs } from '../../actions/continue.ts';
import { previewSignal } from '../../actions/suspend.ts';
import { noteLateSignals } from '../host-notes.ts';
import { jobActionCommand } from '../job-action-command.ts';

export default jobActionCommand({
  name: 'continue',
  summary: 'Resume suspended jobs (SIGCONT)',
  participle: 'continued',
  examples: ['queuectl continue job1', 'queuectl continue --queue mail --state running --yes'],
  preview: (app, ids) => previewSignal(app, ids, 'SIGCONT'),
  async act(app, ids, _, { io }) {
    const result = await continueJobs(app, ids);
    await noteLateSignals(io, app, result.changed);
    return result;
  },
});
