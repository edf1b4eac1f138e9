import { deleteJobs } from '../../actions/delete.ts';
import { actingCommand } from '../act.ts';

export default actingCommand({
  name: 'delete',
  summary: 'Delete jobs and their output permanently',
  done: 'deleted',
  examples: ['queuectl delete job1', 'queuectl delete --queue mail --yes'],
  ends: 'deleted',
  act: (app, ids) => deleteJobs(app, ids),
});
