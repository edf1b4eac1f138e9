import { readEndSignal } from '../../core/signals.ts';
import { cancel } from '../../worker/cancel.ts';
import { actingCommand } from '../act.ts';

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
  ends: 'cancelled',
  act(app, ids, input) {
    const signal = input.one('signal');
    return cancel(app, ids, signal === undefined ? undefined : readEndSignal(signal, '--signal'));
  },
});
