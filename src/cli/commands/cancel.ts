import { cancelToTheEnd } from '../../worker/cancel.ts';
import { actingCommand } from '../act.ts';

export default actingCommand({
  name: 'cancel',
  summary: 'Stop jobs: a running one is ended, a waiting one never runs',
  done: 'cancelled',
  examples: [
    'queuectl cancel job1',
    'queuectl cancel @last',
    'queuectl cancel --state pending --queue mail --yes',
  ],
  act: cancelToTheEnd,
});
