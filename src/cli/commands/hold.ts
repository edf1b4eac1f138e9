import { holdJobs } from '../../actions/act.ts';
import { actingCommand } from '../act.ts';

export default actingCommand({
  name: 'hold',
  summary: 'Keep waiting jobs from starting until you release them',
  done: 'held',
  examples: ['queuectl hold job1', 'queuectl hold --queue mail --yes'],
  act: holdJobs,
});
