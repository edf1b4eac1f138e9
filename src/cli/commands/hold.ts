import { holdJobs } from '../../actions/act.ts';
import { actingCommand } from '../act.ts';

export default actingCommand({
  name: 'hold',
  summary: 'Keep waiting jobs from running',
  done: 'held',
  examples: ['queuectl hold job1', 'queuectl hold --queue mail --yes'],
  act: holdJobs,
});
