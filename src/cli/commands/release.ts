import { previewRelease } from '../../actions/preview.ts';
import { releaseJobs } from '../../actions/release.ts';
import { jobActionCommand } from '../job-action-command.ts';

export default jobActionCommand({
  name: 'release',
  summary: 'Release held jobs so that they can start',
  participle: 'released',
  examples: ['queuectl release job1', 'queuectl release --queue mail --yes'],
  preview: previewRelease,
  act: releaseJobs,
});
