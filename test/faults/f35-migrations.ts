import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildNextVersion } from '../support/next-version.ts';
import { sandbox } from '../support/queuectl.ts';
import { pick, randomFrom } from '../support/random.ts';
import type { Violation } from './checker.ts';
import type { Fault, Figures } from './fault.ts';
import { checkMigration, makeOldStore } from './old-store.ts';
import { roundDone, startProgress } from './progress.ts';

const PROCESSES = 16;
const JOBS = 500;

/** Migrates an old database from many processes at once. One migrates it, and the others wait and find it migrated. */
export const manyMigrations: Fault = {
  id: 'F35',
  title: `${PROCESSES} processes migrate an old database at once`,
  small: 3,
  full: 200,
  run: (rounds, _, program) =>
    migrateInRounds(rounds, program, async (box, path) => {
      const codes = await Promise.all(
        Array.from({ length: PROCESSES }, async () => (await box.run(['db', 'migrate', '--json'])).code),
      );
      const refused = codes.filter((code) => code !== 0);
      return [
        ...refused.map((code): Violation => ({ kind: 'invariant', what: `exit code ${code}` })),
        ...checkMigration(path, 'new', JOBS),
      ];
    }),
};

const KILLED_CALLS = ['pwrite64', 'fdatasync'];

/** Kills the migration at its crash points and at system calls that write or sync a file. */
export const killedMigration: Fault = {
  id: 'F36',
  title: 'A migration is killed at every crash point and every write',
  small: 12,
  full: 400,
  whySkipped: () => (spawnSync('strace', ['-V']).status === 0 ? null : 'no strace'),
  run(rounds, seed, program) {
    const random = randomFrom(seed);
    const points = ['before-migrate', 'in-migrate', 'after-migrate'];
    let nth = 0;
    return migrateInRounds(rounds, program, async (box, path, round) => {
      const point = points[round];
      const call = pick(random, KILLED_CALLS);
      nth = point === undefined ? nth + 1 : 0;
      const inject = `inject=${call}:signal=KILL:when=${1 + (nth % 60)}`;
      const through = ['strace', '-f', '-qq', '-o', '/dev/null', '-e', `trace=${call}`, '-e', inject];
      await (point === undefined
        ? box.run(['db', 'migrate'], { through })
        : box.run(['db', 'migrate'], { env: { QUEUECTL_CRASH_AT: point } }));
      const afterKill = checkMigration(path, 'either', JOBS);
      const { code, stderr } = await box.run(['db', 'migrate']);
      const afterRetry = checkMigration(path, 'new', JOBS);
      const refused: Violation[] = code === 0 ? [] : [{ kind: 'invariant', what: `not opened: ${stderr}` }];
      return [...afterKill, ...refused, ...afterRetry].map((one) => ({
        ...one,
        what: `${point ?? inject}: ${one.what}`,
      }));
    });
  },
};

/** Runs `work` once per round on a new database of the old version, with a program of the next version. */
async function migrateInRounds(
  rounds: number,
  program: string | undefined,
  work: (box: ReturnType<typeof sandbox>, path: string, round: number) => Promise<Violation[]>,
): Promise<Figures> {
  const directory = mkdtempSync(join(tmpdir(), 'queuectl-next-'));
  const box = sandbox([], program ?? buildNextVersion(directory));
  const path = join(box.home, 'queue.db');
  const violations: Violation[] = [];
  startProgress(rounds);
  try {
    for (let round = 0; round < rounds; round++) {
      makeOldStore(path, JOBS);
      violations.push(...(await work(box, path, round)));
      roundDone();
    }
  } finally {
    await box.cleanup();
    rmSync(directory, { recursive: true, force: true });
  }
  return { jobs: rounds * JOBS, faults: rounds, violations };
}
