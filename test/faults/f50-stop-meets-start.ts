import { workersOf } from '../support/processes.ts';
import { until } from '../support/queuectl.ts';
import { below, pick } from '../support/random.ts';
import { readJobs } from './audit.ts';
import type { Fault, Figures } from './fault.ts';
import type { Lab } from './lab.ts';
import { QUICK } from './moments.ts';
import { roundsInLabs } from './rounds.ts';
import { witnessed } from './witness.ts';

/** Lists seconds between the start and the stop, about as long as a program takes to start. */
const PAUSES = ['0', '0', '0.002', '0.005', '0.01', '0.02', '0.03', '0.05', '0.1', '0.3'];

const BACKGROUND = '"$0" "$@" & start=$!; sleep $PAUSE; "$0" worker stop $FLAG; wait $start';
const DETACHED = '("$0" "$@" --detach || :) & sleep $PAUSE; "$0" worker stop $FLAG; wait';
/** Suspends the program while it starts, for longer than a program takes to start. */
const STOPPED =
  '"$0" "$@" & start=$!; sleep $BRIEFLY; kill -STOP $start; "$0" worker stop $FLAG & sleep 1.5; kill -CONT $start; wait';
const EXEC = '"$0" worker stop $FLAG; exec "$0" "$@" --drain';
/** An older process becomes the program after the stop. */
const LATER =
  'sh -c \'touch $GO.up; until [ -e $GO ]; do sleep 0.05; done; exec "$0" "$@" --drain\' "$0" "$@" & until [ -e $GO.up ]; do sleep 0.01; done; "$0" worker stop $FLAG; touch $GO; wait $!';
/** The stop runs in a process without a parent. */
const APART =
  'setsid -f sh -c \'"$0" worker stop $FLAG; touch $GO\' "$0"; until [ -e $GO ]; do sleep 0.05; done; exec "$0" "$@" --drain';

const STOP_DURING_START = [BACKGROUND, BACKGROUND, BACKGROUND, DETACHED, STOPPED];
const STOP_BEFORE_START = [EXEC, LATER, APART];
const SHAPES = [...STOP_DURING_START, ...STOP_BEFORE_START];
/** This many of the pauses are so short that the program has not registered yet. */
const BRIEF = 5;

/**
 * Stops workers while they start, which must stop them. A start after a stop, even in the same process, must succeed.
 */
export const stopMeetsStart: Fault = {
  id: 'F50',
  title: '`worker stop` while workers are starting',
  small: 16,
  full: 200,
  async run(rounds, seed, program) {
    const wrong: Figures['violations'] = [];
    const figures = await roundsInLabs({
      ...{ rounds, seed, program, settings: QUICK },
      open: () => async (lab, round) => {
        const starts = round % SHAPES.length >= STOP_DURING_START.length;
        const script = SHAPES[round % SHAPES.length]!;
        const id = `j${round}`;
        await lab.enqueue([{ id, command: witnessed(0) }]);
        const env = {
          ...{ PAUSE: pick(lab.random, PAUSES), FLAG: pick(lab.random, ['', '', '--leave']) },
          ...{ BRIEFLY: pick(lab.random, PAUSES.slice(0, BRIEF)), GO: `go${round}` },
        };
        const count = String(1 + below(lab.random, 4));
        const both = lab.supervisor(['--count', count], env, ['sh', '-c', script]);
        const missed = await until(async () => {
          if (both.child.exitCode !== null) return 'none';
          return starts ? null : await missedBy(lab, both.output());
        }, 'the stop has reached the start');
        const about = `round ${round}, a pause of ${env.PAUSE} s: ${script}`;
        if (missed === 'some') {
          wrong.push({ kind: 'missed', what: about });
          await lab.box.run(['worker', 'stop']);
        }
        const code = await both.exit;
        if (code !== 0) wrong.push({ kind: 'code', what: `exit code ${code}: ${about}` });
        if ((await workersOf(lab.box)).length > 0) wrong.push({ kind: 'missed', what: about });
        if (starts && stateOf(lab, id) !== 'completed') wrong.push({ kind: 'poisoned', what: about });
        await lab.supervisor(['--drain']).exit;
        if (stateOf(lab, id) !== 'completed')
          wrong.push({ kind: 'poisoned', what: `the next start: ${about}` });
      },
    });
    return { ...figures, violations: [...wrong, ...figures.violations] };
  },
};

/** Returns 'some' if a worker is not stopping after the stop has returned. */
async function missedBy(lab: Lab, output: string): Promise<'some' | null> {
  if (!/^(no workers were running|stopped \d)/m.test(output)) return null;
  const workers = await workersOf(lab.box);
  return workers.some((worker) => worker.status !== 'draining') ? 'some' : null;
}

function stateOf(lab: Lab, id: string): string | undefined {
  return readJobs(lab.database).find((job) => job.id === id)?.state;
}
