import { deleteJobs } from '../../actions/act.ts';
import { actingCommand } from '../act.ts';

export default actingCommand({
  name: 'delete',
  summary: 'Remove jobs for good, with their output',
  done: 'deleted',
  examples: ['queuectl delete job1', 'queuectl delete --queue mail --yes'],
  act: (app, ids) => deleteJobs(app, ids),
});
