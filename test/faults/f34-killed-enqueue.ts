import { below, pick } from '../support/random.ts';
import { readJobs } from './audit.ts';
import type { Fault } from './fault.ts';
import { roundsInLabs } from './rounds.ts';
import { witnessed } from './witness.ts';

const POINTS = ['before-insert', 'in-insert', 'after-insert', 'before-touch'];
const LATEST_KILL_MS = 25;
const CONFLICT_CODE = 4;

/** Kills `enqueue` at a crash point or at random and repeats it with the same id or unique key. One job must be added. */
export const killedEnqueue: Fault = {
  id: 'F34',
  title: '`enqueue` is killed at any moment and tried again',
  small: 60,
  full: 2000,
  async run(rounds, seed, program) {
    let killed = 0;
    const figures = await roundsInLabs({
      ...{ rounds, seed, program },
      open: () => async (lab, round) => {
        const id = `j${round}`;
        const isUnique = below(lab.random, 2) === 0;
        const flags = isUnique ? ['--unique', id] : ['--id', id];
        const args = ['enqueue', ...flags, '--command', witnessed(0)];
        const atPoint = below(lab.random, 2) === 0;
        const env: Record<string, string> = atPoint ? { QUEUECTL_CRASH_AT: pick(lab.random, POINTS) } : {};
        const client = lab.box.start(args, { env });
        if (!atPoint) setTimeout(() => client.child.kill('SIGKILL'), below(lab.random, LATEST_KILL_MS));
        if ((await client.exit) === -1) killed++;
        const jobsBefore = readJobs(lab.database).length;
        const again = await lab.box.run(args);
        if (again.code !== 0 && (isUnique || again.code !== CONFLICT_CODE)) throw new Error(again.stderr);
        const known = new Set(lab.enqueued.map((one) => one.id));
        const added = readJobs(lab.database).filter((job) => !known.has(job.id));
        if (added.length !== 1)
          throw new Error(`${id}: ${added.length} jobs, ${jobsBefore} before the second try`);
        lab.recordEnqueue(added[0]!.id, 'ok');
      },
    });
    return { ...figures, faults: killed };
  },
};
