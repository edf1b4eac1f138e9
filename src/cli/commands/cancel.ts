import { cancel } from '../../worker/cancel.ts';
import { actingCommand } from '../act.ts';
import { warnAlsoCancelled } from '../warn-dependents.ts';

export default actingCommand({
  name: 'cancel',
  summary: 'Cancel jobs, and stop them if they are running',
  done: 'cancelled',
  examples: [
    'queuectl cancel job1',
    'queuectl cancel @last',
    'queuectl cancel --state pending --queue mail --yes',
  ],
  async act(app, ids, _, { io }) {
    const acted = await cancel(app, ids);
    await warnAlsoCancelled(io, app, acted.changed);
    return acted;
  },
});
