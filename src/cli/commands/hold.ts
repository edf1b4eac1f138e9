import { holdJobs } from '../../actions/hold.ts';
import { actingCommand } from '../act.ts';

export default actingCommand({
  name: 'hold',
  summary: 'Hold waiting jobs until you release them',
  done: 'held',
  examples: ['queuectl hold job1', 'queuectl hold --queue mail --yes'],
  act: holdJobs,
});
