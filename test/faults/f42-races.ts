import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { connect } from '../../src/store/sqlite/connection.ts';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import type { Store } from '../../src/store/store.ts';
import { COMMANDS } from '../model/commands.ts';
import { type Model, newModel } from '../model/model.ts';
import { newWorker } from '../support/jobs.ts';
import { type Fault, type Figures, formatCount } from './fault.ts';
import { roundDone, startProgress } from './progress.ts';

const MAX_COMMANDS = 60;

/** Runs random interleavings of workers, recovery and users. Each step is taken by a model and by the real store. */
export const races: Fault = {
  id: 'F42',
  title: 'Random interleavings of operations, compared with a model',
  small: 250,
  full: 100_000,
  run: (interleavings, seed) => raceStore(openSqlite, interleavings, seed),
};

/** Runs at most `numRuns` interleavings on a store that `open` opens. Stops at the first difference from the model. */
export async function raceStore(open: typeof openSqlite, numRuns: number, seed: number): Promise<Figures> {
  // The store is in memory if possible, because this test needs no disk.
  const directory = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'queuectl-races-'));
  const path = join(directory, 'queue.db');
  const { store } = await open(path);
  const connection = await connect(path);
  for (const id of ['w1', 'w2', 'w3']) await store.register(newWorker(id));
  let steps = 0;
  startProgress(numRuns);
  const property = fc.asyncProperty(
    fc.commands(COMMANDS, { maxCommands: MAX_COMMANDS, size: 'max' }),
    async (commands) => {
      await connection.write('migrate', () =>
        connection.exec(
          'DELETE FROM job; DELETE FROM log; DELETE FROM counter; DELETE FROM rollup; DELETE FROM rollup_kind; DELETE FROM queue',
        ),
      );
      await fc.asyncModelRun(() => ({ model: newModel(), real: store }), commands);
      steps += [...commands].length;
      roundDone();
    },
  );
  try {
    const details = await fc.check(property, { seed: seed | 0, numRuns });
    return {
      jobs: 0,
      faults: details.numRuns,
      violations: details.failed ? [{ kind: 'race', what: report(details) }] : [],
      notes: `${formatCount(steps)} steps`,
    };
  } finally {
    connection.close();
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

function report(details: fc.RunDetails<[Iterable<fc.AsyncCommand<Model, Store>>]>): string {
  return `${fc.defaultReportMessage(details)}\n${details.errorInstance}`;
}
