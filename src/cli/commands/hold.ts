import { holdJobs } from '../../actions/hold.ts';
import { previewHold } from '../../actions/preview.ts';
import { jobActionCommand } from '../job-action-command.ts';

export default jobActionCommand({
  name: 'hold',
  summary: 'Hold waiting jobs until you release them',
  participle: 'held',
  examples: ['queuectl hold job1', 'queuectl hold --queue mail --yes'],
  preview: previewHold,
  act: holdJobs,
});
