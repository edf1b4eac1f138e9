import { cancel } from '../../worker/cancel.ts';
import { actingCommand } from '../act.ts';

export default actingCommand({
  name: 'cancel',
  summary: 'Cancel jobs, and stop them if they are running',
  done: 'cancelled',
  examples: [
    'queuectl cancel job1',
    'queuectl cancel @last',
    'queuectl cancel --state pending --queue mail --yes',
  ],
  ends: 'cancelled',
  act: (app, ids) => cancel(app, ids),
});
