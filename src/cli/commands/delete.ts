import { deleteJobs } from '../../actions/delete.ts';
import { previewDelete } from '../../actions/preview.ts';
import { jobActionCommand } from '../job-action-command.ts';

export default jobActionCommand({
  name: 'delete',
  summary: 'Delete jobs and their output permanently',
  participle: 'deleted',
  examples: ['queuectl delete job1', 'queuectl delete --queue mail --yes'],
  preview: previewDelete,
  act: (app, ids) => deleteJobs(app, ids),
});
