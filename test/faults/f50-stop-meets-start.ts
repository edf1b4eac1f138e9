import { until } from '../support/queuectl.ts';
import { below, pick } from '../support/random.ts';
import { countSupervisors, readJobs } from './audit.ts';
import type { Fault, Figures } from './fault.ts';
import { QUICK_SETTINGS } from './process-control.ts';
import { roundsInLabs } from './rounds.ts';
import { witnessed } from './witness.ts';

/** Runs `worker stop` when a supervisor has just registered, and expects that none of its workers runs a job. */
export const stopMeetsStart: Fault = {
  id: 'F50',
  title: '`worker stop` while workers are starting',
  small: 8,
  full: 200,
  async run(rounds, seed, program) {
    const wrong: Figures['violations'] = [];
    const figures = await roundsInLabs({
      ...{ rounds, seed, program, settings: QUICK_SETTINGS },
      open: () => async (lab, round) => {
        const flags = pick(lab.random, [[], ['--leave']]);
        const supervisor = lab.supervisor(['--count', String(1 + below(lab.random, 4))]);
        await until(() => countSupervisors(lab.database) > 0, 'the supervisor has registered');
        const stop = await lab.box.run(['worker', 'stop', ...flags, '--timeout', '10s']);
        if (stop.code !== 0) {
          wrong.push({ kind: 'missed', what: `round ${round} ${flags}: ${stop.stderr}` });
          process.kill(supervisor.pid, 'SIGTERM');
        }
        const code = await supervisor.exit;
        if (code !== 0) wrong.push({ kind: 'code', what: `exit code ${code} in round ${round} ${flags}` });
        const id = `j${round}`;
        await lab.enqueue([{ id, command: witnessed(0) }]);
        await lab.supervisor(['--drain']).exit;
        if (readJobs(lab.database).find((job) => job.id === id)?.state !== 'completed')
          wrong.push({ kind: 'not run', what: `the next start after round ${round}` });
      },
    });
    return { ...figures, violations: [...wrong, ...figures.violations] };
  },
};
