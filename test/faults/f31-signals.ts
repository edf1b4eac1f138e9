import { until } from '../support/queuectl.ts';
import { readJobs } from './audit.ts';
import type { Fault } from './fault.ts';
import type { Lab, Supervisor } from './lab.ts';
import { QUICK_SETTINGS, untilReady, untilStarted } from './process-control.ts';
import { roundsInLabs } from './rounds.ts';
import { witnessed } from './witness.ts';

type Effect = 'drain' | 'force' | 'crash';

/** Lists ways to stop a supervisor, each with its effect: a graceful stop, a forced one or a crash. */
const STOPS: [string, Effect, (supervisor: Supervisor) => Promise<void> | void][] = [
  ['SIGTERM', 'drain', (one) => void process.kill(one.pid, 'SIGTERM')],
  ['SIGTERM to the group twice', 'force', (one) => signalGroupTwice(one, 'SIGTERM')],
  ['SIGINT to the group', 'drain', (one) => void process.kill(-one.pid, 'SIGINT')],
  ['SIGINT to the group twice', 'force', (one) => signalGroupTwice(one, 'SIGINT')],
  ['SIGHUP', 'drain', (one) => void process.kill(one.pid, 'SIGHUP')],
  ['SIGHUP to the group', 'drain', (one) => void process.kill(-one.pid, 'SIGHUP')],
  ['SIGQUIT', 'crash', (one) => void process.kill(one.pid, 'SIGQUIT')],
  ['SIGQUIT to the group', 'crash', (one) => void process.kill(-one.pid, 'SIGQUIT')],
];

async function signalGroupTwice(supervisor: Supervisor, signal: NodeJS.Signals): Promise<void> {
  process.kill(-supervisor.pid, signal);
  await until(() => supervisor.output().includes('another signal stops them'), 'the first was handled');
  // Two signals within a fifth of a second count as one.
  await new Promise((done) => setTimeout(done, 250));
  process.kill(-supervisor.pid, signal);
}

/**
 * Stops workers in different ways. Unless they crash, the exit code must be 0. After a graceful stop the job must be
 * completed, and after a forced one pending and uncharged.
 */
export const stopSignals: Fault = {
  id: 'F31',
  title: 'Stop by SIGTERM, SIGINT, SIGHUP or SIGQUIT, sent once or twice, to one process or to all',
  small: STOPS.length,
  full: 100 * STOPS.length,
  async run(rounds, seed, program) {
    const once = new Set<string>();
    return roundsInLabs({
      ...{ rounds, seed, program, settings: QUICK_SETTINGS, once },
      open: () => async (lab, round) => {
        const [name, effect, stop] = STOPS[round % STOPS.length]!;
        const id = `j${round}`;
        if (effect !== 'force') once.add(id);
        await lab.enqueue([{ id, command: witnessed(effect === 'force' ? 3 : 0.7) }]);
        const supervisor = lab.supervisor();
        await untilReady(supervisor);
        await untilStarted(lab, id);
        await stop(supervisor);
        const code = await supervisor.exit;
        if (effect !== 'crash' && code !== 0) throw new Error(`${name}: exit code ${code}`);
        if (effect !== 'crash') expectState(lab, id, effect === 'drain' ? 'completed' : 'pending', name);
        if (effect === 'force') await lab.box.json(['cancel', id]);
        else await lab.supervisor(['--drain']).exit;
      },
    });
  },
};

function expectState(lab: Lab, id: string, state: string, name: string): void {
  const job = readJobs(lab.database).find((one) => one.id === id)!;
  const charged = state === 'completed' ? 1 : 0;
  if (job.state !== state || job.attempts !== charged || job.crashes !== 0)
    throw new Error(`${name}: ${JSON.stringify(job)}`);
}
