import { cancel } from '../../worker/cancel.ts';
import { actingCommand } from '../act.ts';
import { noteAlong } from '../cut-off.ts';

export default actingCommand({
  name: 'cancel',
  summary: 'Cancel jobs; running ones are stopped',
  done: 'cancelled',
  examples: [
    'queuectl cancel job1',
    'queuectl cancel @last',
    'queuectl cancel --state pending --queue mail --yes',
  ],
  async act(app, ids, _, { io }) {
    const acted = await cancel(app, ids);
    await noteAlong(io, app, acted.changed);
    return acted;
  },
});
