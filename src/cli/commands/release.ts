import { releaseJobs } from '../../actions/act.ts';
import { actingCommand } from '../act.ts';

export default actingCommand({
  name: 'release',
  summary: 'Release held jobs so that they can start',
  done: 'released',
  examples: ['queuectl release job1', 'queuectl release --queue mail --yes'],
  act: releaseJobs,
});
