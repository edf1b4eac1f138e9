import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../support/queuectl.ts';
import type { Fault } from './fault.ts';
import type { Lab } from './lab.ts';
import { QUICK_SETTINGS, untilReady, untilStarted } from './process-control.ts';
import { roundsInLabs } from './rounds.ts';
import { witnessed } from './witness.ts';

const REPLACED_MESSAGE = 'was removed or replaced while in use';

/** Moves the database away while workers use it, and in even rounds creates another. The workers must report that. */
export const replacedFile: Fault = {
  id: 'F22',
  title: 'The database file is removed or replaced while in use',
  small: 4,
  full: 20,
  run: (rounds, seed, program) =>
    roundsInLabs({
      ...{ rounds, seed, program, settings: QUICK_SETTINGS },
      open: () => async (lab, round) => {
        const id = `j${round}`;
        await lab.enqueue([{ id, command: witnessed(0.7) }]);
        const supervisor = lab.supervisor();
        await untilReady(supervisor);
        await untilStarted(lab, id);
        const aside = join(lab.box.directory, `aside${round}`);
        mkdirSync(aside);
        moveDatabase(lab.box.home, aside);
        if (round % 2 === 0) await lab.box.json(['enqueue', '--id', 'another', '--command', 'true']);
        await until(() => supervisor.output().includes(REPLACED_MESSAGE), 'the worker noticed');
        process.kill(-supervisor.pid, 'SIGKILL');
        await supervisor.exit;
        putBack(lab, aside);
        const code = await lab.supervisor(['--drain']).exit;
        if (code !== 0) throw new Error(`exit code ${code} with the file back in its place`);
      },
    }),
};

const databaseFiles = (directory: string): string[] =>
  readdirSync(directory).filter((name) => /^queue\.db(-wal|-shm)?$/.test(name));

function moveDatabase(from: string, to: string): void {
  for (const name of databaseFiles(from)) renameSync(join(from, name), join(to, name));
}

function putBack(lab: Lab, aside: string): void {
  for (const name of databaseFiles(lab.box.home)) rmSync(join(lab.box.home, name));
  moveDatabase(aside, lab.box.home);
  if (!existsSync(lab.database)) throw new Error('the database is not back');
}
