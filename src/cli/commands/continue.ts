import { continueJobs } from '../../actions/continue.ts';
import { jobActionCommand } from '../job-action-command.ts';

export default jobActionCommand({
  name: 'continue',
  summary: 'Resume suspended jobs (SIGCONT)',
  participle: 'continued',
  examples: ['queuectl continue job1', 'queuectl continue --queue mail --state running --yes'],
  act: continueJobs,
});
