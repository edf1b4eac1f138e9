import { suspendJobs } from '../../actions/suspend.ts';
import { actingCommand } from '../act.ts';

export default actingCommand({
  name: 'suspend',
  summary: 'Stop running jobs where they are (SIGSTOP); continue lets them go on',
  done: 'suspended',
  examples: ['queuectl suspend job1', 'queuectl suspend --queue mail --state running --yes'],
  act: suspendJobs,
});
