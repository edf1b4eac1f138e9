import { cancelJobs } from '../../actions/cancel.ts';
import { readEndSignal } from '../../core/signals.ts';
import { untilEnded } from '../../worker/orphans.ts';
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
    const given = input.one('signal');
    const signal = given === undefined ? undefined : readEndSignal(given, '--signal');
    const acted = await cancelJobs(app, ids, { untilEnded, signal });
    await warnAlsoCancelled(io, app, acted.changed);
    return acted;
  },
});
