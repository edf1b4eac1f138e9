import { readEndSignal } from '../../core/signals.ts';
import { cancel } from '../../worker/cancel.ts';
import { actingCommand } from '../act.ts';
import { warnAlsoCancelled } from '../warn-dependents.ts';

export default actingCommand({
  name: 'cancel',
  summary: 'Cancel jobs, and stop them if they are running',
  done: 'cancelled',
  flags: {
    signal: {
      value: 'SIGNAL',
      help: 'first signal for running jobs, such as INT (default: TERM); SIGKILL follows after kill-grace',
    },
  },
  examples: [
    'queuectl cancel job1',
    'queuectl cancel job1 --signal INT',
    'queuectl cancel @last',
    'queuectl cancel --state pending --queue mail --yes',
  ],
  async act(app, ids, input, { io }) {
    const signal = input.one('signal');
    const acted = await cancel(
      app,
      ids,
      signal === undefined ? undefined : readEndSignal(signal, '--signal'),
    );
    await warnAlsoCancelled(io, app, acted.changed);
    return acted;
  },
});
