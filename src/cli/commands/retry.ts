import { retryJobs } from '../../actions/act.ts';
import { actingCommand } from '../act.ts';

export default actingCommand({
  name: 'retry',
  summary: 'Put dead, cancelled or failed jobs back in their queue',
  done: 'retried',
  examples: ['queuectl retry job1', 'queuectl retry --queue mail --yes'],
  act: (app, ids) => retryJobs(app, ids),
});
