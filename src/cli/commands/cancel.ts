import { cancelJobs } from '../../actions/cancel.ts';
import { previewCancel } from '../../actions/preview.ts';
import { readEndSignal } from '../../core/signals.ts';
import { untilEnded } from '../../worker/orphans.ts';
import type { Input } from '../command.ts';
import { noteWaitForHosts } from '../host-notes.ts';
import { jobActionCommand } from '../job-action-command.ts';

export default jobActionCommand({
  name: 'cancel',
  summary: 'Cancel jobs, and stop them if they are running',
  participle: 'cancelled',
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
  async preview(app, ids, input) {
    readSignal(input);
    return previewCancel(app, ids);
  },
  act: (app, ids, input, { io }) =>
    cancelJobs(app, ids, {
      untilEnded: (_, ending) => untilEnded(app, ending, (jobs) => noteWaitForHosts(io, app, jobs)),
      signal: readSignal(input),
    }),
});

function readSignal(input: Input): NodeJS.Signals | undefined {
  const given = input.one('signal');
  return given === undefined ? undefined : readEndSignal(given, '--signal');
}
