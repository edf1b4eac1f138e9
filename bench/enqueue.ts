/** P1 measures one `enqueue`, the whole process, against the minimum that it has to do. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createStore, type Lab, runOrThrow } from './lab.ts';
import { joinBatches, type TimedCommand, timeInTurn } from './measure.ts';
import { summarize } from './numbers.ts';
import type { Row } from './report.ts';

const BATCHES = 4;
const RUNS = 20;

const PEERS = [
  { what: 'compiled program, one durable insert', limit: 1.5 },
  { what: 'empty compiled program', limit: 2.4 },
  { what: 'tsp true', limit: 4 },
];

export function enqueue(lab: Lab): Row[] {
  const spooler = Bun.which('tsp');
  const socket = join(lab.directory, 'tsp.socket');
  const batches: number[][][] = [];
  for (let batch = 0; batch < BATCHES; batch++) {
    const commands = [enqueueCommand(lab), insertCommand(lab), { command: [lab.program('empty')] }];
    if (spooler !== null) commands.push({ command: [spooler, 'true'], environment: { TS_SOCKET: socket } });
    // The first start of each command fills the page cache.
    timeInTurn(lab, 1, commands);
    batches.push(timeInTurn(lab, RUNS, commands));
  }
  if (spooler !== null) runOrThrow(lab, [spooler, '-K'], { TS_SOCKET: socket });
  const [own, ...peers] = joinBatches(batches).map((times) => summarize(times, 'ms'));
  return [
    { name: 'P1', what: 'queuectl enqueue true', value: own! },
    ...PEERS.map(({ what, limit }, i): Row => {
      const value = peers[i] ?? null;
      const row: Row = { name: 'P1', what, value, target: { at: 'most', limit } };
      return value === null
        ? { ...row, skipped: 'not installed' }
        : { ...row, ratio: own!.median / value.median };
    }),
  ];
}

/** Returns an enqueue into a new store without jobs. */
function enqueueCommand(lab: Lab): TimedCommand {
  const environment = { QUEUECTL_HOME: lab.emptyDirectory('p1-store') };
  createStore(lab, environment);
  return { command: [lab.queuectl, 'enqueue', 'true'], environment };
}

function insertCommand(lab: Lab): TimedCommand {
  const file = join(lab.emptyDirectory('p1-insert'), 'insert.db');
  const db = new DatabaseSync(file);
  db.exec('PRAGMA journal_mode = WAL');
  db.exec('CREATE TABLE job (number INTEGER PRIMARY KEY, command TEXT, created_at INTEGER) STRICT');
  db.close();
  return { command: [lab.program('insert'), file] };
}
