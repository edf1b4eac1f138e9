import { suspendJobs } from '../../actions/suspend.ts';
import { actingCommand } from '../act.ts';

export default actingCommand({
  name: 'suspend',
  summary: 'Suspend running jobs (SIGSTOP)',
  done: 'suspended',
  examples: ['queuectl suspend job1', 'queuectl suspend --queue mail --state running --yes'],
  act: suspendJobs,
});
