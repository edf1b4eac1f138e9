import { continueJobs } from '../../actions/suspend.ts';
import { actingCommand } from '../act.ts';

export default actingCommand({
  name: 'continue',
  summary: 'Resume suspended jobs (SIGCONT)',
  done: 'continued',
  examples: ['queuectl continue job1', 'queuectl continue --queue mail --state running --yes'],
  act: continueJobs,
});
