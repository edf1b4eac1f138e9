import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lines, until } from '../support/queuectl.ts';
import { below } from '../support/random.ts';
import { inTempDir } from '../support/temp-dir.ts';
import { countUnfinished } from './audit.ts';
import type { Fault, Figures } from './fault.ts';
import { inLab } from './lab.ts';
import { untilReady } from './process-control.ts';
import { inLanes } from './rounds.ts';

const SLOTS = 16;
const STOPS_PER_ROUND = 3;
const LONGEST_JOB_MS = 200;

/** Lists how a job runs the program: in the frame's subshell, at the end of a script, and without a shell. */
const FORMS: ((program: string, ms: number, file: string) => object)[] = [
  (program, ms, file) => ({ command: `${program} ${ms} ${file}` }),
  (program, ms, file) => ({ command: `/bin/sh last.sh ${program} ${ms} ${file}` }),
  (program, ms, file) => ({ argv: [program, String(ms), file] }),
];

/** Builds append-line.c and returns the path of the program, or null without a C compiler. */
function buildProgram(directory: string): string | null {
  const program = join(directory, 'append-line');
  return spawnSync('cc', ['-O2', '-o', program, join(import.meta.dir, 'append-line.c')]).status === 0
    ? program
    : null;
}

async function round(seed: number, program?: string): Promise<Figures> {
  return inLab(
    seed,
    async (lab) => {
      const { directory } = lab.box;
      const appendLine = buildProgram(directory)!;
      mkdirSync(join(directory, 'out'));
      writeFileSync(join(directory, 'last.sh'), '"$1" "$2" "$3"\n');
      const fileOf = (id: string): string => join('out', id);
      for (let stop = 0; stop < STOPS_PER_ROUND; stop++) {
        const jobs = Array.from({ length: 3 * SLOTS }, (_, i) => ({
          ...{ id: `j${stop}-${i}`, max_retries: 1 },
          ...FORMS[i % FORMS.length]!(appendLine, below(lab.random, LONGEST_JOB_MS), fileOf(`j${stop}-${i}`)),
        }));
        const supervisor = lab.supervisor(['--concurrency', String(SLOTS)]);
        await untilReady(supervisor);
        await lab.enqueue(jobs as unknown as { id: string; command: string }[]);
        const oneHasRun = (): boolean => jobs.some(({ id }) => lines(join(directory, fileOf(id))).length > 0);
        await until(oneHasRun, 'one job has run');
        await lab.box.json(['worker', 'stop', '--force']);
        await supervisor.exit;
      }
      await lab.supervisor(['--drain', '--concurrency', String(SLOTS)]).exit;
      const violations = lab.enqueued.flatMap(({ id }) => {
        const { length } = lines(join(directory, fileOf(id)));
        return length === 1 ? [] : [{ kind: 'twice', what: `${id} ran to its end ${length} times` }];
      });
      const open = countUnfinished(lab.database);
      if (open > 0) violations.push({ kind: 'lost', what: `${open} jobs are unfinished` });
      return { jobs: lab.enqueued.length, faults: STOPS_PER_ROUND, violations };
    },
    program,
  );
}

export const plainProgramsEnd: Fault = {
  id: 'F51d',
  title: '`worker stop --force` while programs end, with and without a shell around them',
  small: 4,
  full: 60,
  whySkipped: async () => ((await inTempDir(buildProgram)) === null ? 'no C compiler' : null),
  async run(rounds, seed, program) {
    const all = await inLanes(rounds, (i) => round(seed + i, program));
    return {
      jobs: all.reduce((sum, one) => sum + one.jobs, 0),
      faults: all.reduce((sum, one) => sum + one.faults, 0),
      violations: all.flatMap((one) => one.violations),
    };
  },
};
