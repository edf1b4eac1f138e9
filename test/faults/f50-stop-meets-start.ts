import { workersOf } from '../support/processes.ts';
import { until } from '../support/queuectl.ts';
import { below, pick } from '../support/random.ts';
import { readJobs } from './audit.ts';
import type { Fault, Figures } from './fault.ts';
import type { Lab } from './lab.ts';
import { QUICK_SETTINGS } from './process-control.ts';
import { roundsInLabs } from './rounds.ts';
import { witnessed } from './witness.ts';

/** Lists seconds between the start and the stop, about as long as a program takes to start. */
const PAUSE_SECONDS = ['0', '0', '0.002', '0.005', '0.01', '0.02', '0.03', '0.05', '0.1', '0.3'];

/** These scripts get the program and the arguments of `worker start`. They also run `worker stop`. */
const BACKGROUND = '"$0" "$@" & start=$!; sleep $PAUSE; "$0" worker stop $FLAG; wait $start';
const DETACHED = '("$0" "$@" --detach || :) & sleep $PAUSE; "$0" worker stop $FLAG; wait';
/** Suspends the program while it starts, for longer than a program takes to start. */
const SUSPENDED =
  '"$0" "$@" & start=$!; sleep $SHORT_PAUSE; kill -STOP $start; "$0" worker stop $FLAG & sleep 1.5; kill -CONT $start; wait';
const EXEC = '"$0" worker stop $FLAG; exec "$0" "$@" --drain';
/** A process that is older than the stop becomes the program after the stop. */
const EXEC_IN_OLDER =
  'sh -c \'touch $GO.up; until [ -e $GO ]; do sleep 0.05; done; exec "$0" "$@" --drain\' "$0" "$@" & until [ -e $GO.up ]; do sleep 0.01; done; "$0" worker stop $FLAG; touch $GO; wait $!';
/** The stop runs in another session than the start. */
const STOP_IN_OTHER_SESSION =
  'setsid -f sh -c \'"$0" worker stop $FLAG; touch $GO\' "$0"; until [ -e $GO ]; do sleep 0.05; done; exec "$0" "$@" --drain';

const STOP_DURING_START = [BACKGROUND, BACKGROUND, BACKGROUND, DETACHED, SUSPENDED];
const STOP_BEFORE_START = [EXEC, EXEC_IN_OLDER, STOP_IN_OTHER_SESSION];
const SCRIPTS = [...STOP_DURING_START, ...STOP_BEFORE_START];
/** After these pauses a program that was started has not registered yet. */
const SHORT_PAUSE_SECONDS = PAUSE_SECONDS.slice(0, 5);

/**
 * Runs `worker stop` while workers start, and expects that none is left. A `worker start` after the stop, even in the
 * same process, must run the job.
 */
export const stopMeetsStart: Fault = {
  id: 'F50',
  title: '`worker stop` while workers are starting',
  small: 16,
  full: 200,
  async run(rounds, seed, program) {
    const wrong: Figures['violations'] = [];
    const figures = await roundsInLabs({
      ...{ rounds, seed, program, settings: QUICK_SETTINGS },
      open: () => async (lab, round) => {
        const startsAfterStop = round % SCRIPTS.length >= STOP_DURING_START.length;
        const script = SCRIPTS[round % SCRIPTS.length]!;
        const id = `j${round}`;
        await lab.enqueue([{ id, command: witnessed(0) }]);
        const env = {
          ...{ PAUSE: pick(lab.random, PAUSE_SECONDS), FLAG: pick(lab.random, ['', '', '--leave']) },
          ...{ SHORT_PAUSE: pick(lab.random, SHORT_PAUSE_SECONDS), GO: `go${round}` },
        };
        const count = String(1 + below(lab.random, 4));
        const shell = lab.supervisor(['--count', count], env, ['sh', '-c', script]);
        const missed = await until(async () => {
          if (shell.child.exitCode !== null) return 'none';
          return startsAfterStop ? null : await missedWorkers(lab, shell.output());
        }, 'the script has ended or the stop has missed a worker');
        const about = `round ${round}, a pause of ${env.PAUSE} s: ${script}`;
        if (missed === 'some') {
          wrong.push({ kind: 'missed', what: about });
          await lab.box.run(['worker', 'stop']);
        }
        const code = await shell.exit;
        if (code !== 0) wrong.push({ kind: 'code', what: `exit code ${code}: ${about}` });
        if ((await workersOf(lab.box)).length > 0) wrong.push({ kind: 'missed', what: about });
        if (startsAfterStop && stateOf(lab, id) !== 'completed') wrong.push({ kind: 'not run', what: about });
        await lab.supervisor(['--drain']).exit;
        if (stateOf(lab, id) !== 'completed')
          wrong.push({ kind: 'not run', what: `the next start: ${about}` });
      },
    });
    return { ...figures, violations: [...wrong, ...figures.violations] };
  },
};

/** Returns 'some' if the stop has returned although a worker is not stopping, and null otherwise. */
async function missedWorkers(lab: Lab, output: string): Promise<'some' | null> {
  if (!/^(no workers were running|stopped \d)/m.test(output)) return null;
  const workers = await workersOf(lab.box);
  return workers.some((worker) => worker.status !== 'draining') ? 'some' : null;
}

function stateOf(lab: Lab, id: string): string | undefined {
  return readJobs(lab.database).find((job) => job.id === id)?.state;
}
