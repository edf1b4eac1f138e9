import { previewSignal, suspendJobs } from '../../actions/suspend.ts';
import { noteLateSignals } from '../host-notes.ts';
import { jobActionCommand } from '../job-action-command.ts';

export default jobActionCommand({
  name: 'suspend',
  summary: 'Suspend running jobs (SIGSTOP)',
  participle: 'suspended',
  examples: ['queuectl suspend job1', 'queuectl suspend --queue mail --state running --yes'],
  preview: (app, ids) => previewSignal(app, ids, 'SIGSTOP'),
  async act(app, ids, _, { io }) {
    const result = await suspendJobs(app, ids);
    await noteLateSignals(io, app, result.changed);
    return result;
  },
});
