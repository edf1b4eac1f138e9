/** P3 measures `enqueue --file` of 100,000 JSON lines, the whole process, against a loop of plain inserts. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createStore, type Lab } from './lab.ts';
import { joinBatches, type TimedCommand, timeInTurn } from './measure.ts';
import { summarize } from './numbers.ts';
import type { Row } from './report.ts';

const JOBS = 100_000;
const RUNS = 9;
const MAX_MEMORY_MIB = 150;

/** The bare table has only the inserted columns and a unique id. The table of the store also has checks and indexes. */
const PEERS = [
  { what: 'prepared-insert loop, bare table', table: 'bare' },
  { what: 'prepared-insert loop, table of the store', table: 'store' },
];

export async function bulk(lab: Lab): Promise<Row[]> {
  const file = join(lab.directory, 'p3.jsonl');
  writeFileSync(file, Array.from({ length: JOBS }, (_, i) => `${JSON.stringify(job(i))}\n`).join(''));
  const batches: number[][][] = [];
  const memory: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    const own: TimedCommand = {
      command: [lab.queuectl, 'enqueue', '--file', file],
      environment: createEmptyHome(lab, 'p3-own'),
    };
    const peers = PEERS.map(({ table }): TimedCommand => {
      const { QUEUECTL_HOME: home } = createEmptyHome(lab, `p3-${table}`);
      const db = join(home, table === 'store' ? 'queue.db' : 'bare.db');
      return { command: [lab.program('insert-many'), table, db, String(JOBS)] };
    });
    batches.push(timeInTurn(lab, 1, [own, ...peers]));
    memory.push(
      await peakMib(lab, [lab.queuectl, 'enqueue', '--file', file], createEmptyHome(lab, 'p3-own')),
    );
  }
  const [own, ...peers] = joinBatches(batches).map((times) =>
    summarize(
      times.map((ms) => (1000 * JOBS) / ms),
      'jobs/s',
    ),
  );
  const peak = summarize(memory, 'MiB');
  return [
    { name: 'P3', what: 'queuectl enqueue --file, 100,000 JSON lines', value: own! },
    ...PEERS.map(({ what }, i): Row => {
      const value = peers[i]!;
      return {
        name: 'P3',
        what,
        value,
        ratio: own!.median / value.median,
        target: { at: 'least', limit: 0.4 },
      };
    }),
    {
      ...{ name: 'P3', what: `peak memory, relative to ${MAX_MEMORY_MIB} MiB`, value: peak },
      ...{ ratio: peak.median / MAX_MEMORY_MIB, target: { at: 'most', limit: 1 } },
    },
  ];
}

function job(i: number): object {
  return {
    command: `convert image-${i}.jpg image-${i}.png`,
    queue: 'images',
    priority: i % 10,
    max_retries: 5,
  };
}

function createEmptyHome(lab: Lab, name: string): { QUEUECTL_HOME: string } {
  const environment = { QUEUECTL_HOME: lab.emptyDirectory(name) };
  createStore(lab, environment);
  return environment;
}

/** Returns the peak memory of a command. It is polled, because the kernel's total starts with the memory of the parent. */
async function peakMib(lab: Lab, command: string[], environment: Record<string, string>): Promise<number> {
  const child = Bun.spawn(command, { env: { ...lab.environment, ...environment }, stdout: 'ignore' });
  let peak = 0;
  while (child.exitCode === null) {
    const status = await Bun.file(`/proc/${child.pid}/status`)
      .text()
      .catch(() => '');
    peak = Math.max(peak, Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024);
    await Bun.sleep(5);
  }
  if (child.exitCode !== 0) throw new Error(`${command[1]} --file: exit code ${child.exitCode}`);
  return peak;
}
