import { deleteJobs } from '../../actions/delete.ts';
import { jobActionCommand } from '../job-action-command.ts';

export default jobActionCommand({
  name: 'delete',
  summary: 'Delete jobs and their output permanently',
  participle: 'deleted',
  examples: ['queuectl delete job1', 'queuectl delete --queue mail --yes'],
  endsAs: 'deleted',
  act: (app, ids) => deleteJobs(app, ids),
});
