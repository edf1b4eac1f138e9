import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { enqueue, lines, type Sandbox, until } from './queuectl.ts';

/** A job that writes `start` to a file, waits until the test releases it, writes `end` and exits. */
export interface GatedJob {
  id: string;
  release(): void;
  /** Returns the lines that all its runs have written. */
  traces(): string[];
}

/** The traces of exactly one complete run. */
export const ONE_RUN = ['start', 'end'];

/** Enqueues a gated job and waits until it runs. */
export async function startGatedJob(
  box: Sandbox,
  id: string,
  exitCode = 0,
  fields: Record<string, unknown> = {},
): Promise<GatedJob> {
  const job = gatedJob(box, id);
  await enqueue(box, id, gatedCommand(id, exitCode), { max_retries: 1, ...fields });
  await until(() => job.traces().includes('start'), `${id} has started`);
  return job;
}

export function gatedJob(box: Sandbox, id: string): GatedJob {
  return {
    id,
    release: () => writeFileSync(join(box.directory, `${id}.go`), ''),
    traces: () => lines(join(box.directory, `${id}.log`)),
  };
}

export function gatedCommand(id: string, exitCode = 0): string {
  const wait = `until [ -e ${id}.go ]; do sleep 0.05; done`;
  return `echo start >> ${id}.log; ${wait}; echo end >> ${id}.log; exit ${exitCode}`;
}
