import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { enqueue, lines, type Sandbox, until } from './queuectl.ts';

/** A job that says `start` on disk, waits until it is let go, says `end` and exits. Nothing about it is timed. */
export interface GatedJob {
  id: string;
  letGo(): void;
  /** What its runs left on disk: ['start', 'end'] is one run, from its beginning to its end. */
  traces(): string[];
}

/** The traces of exactly one run. */
export const ONE_RUN = ['start', 'end'];

/** Enqueues it and waits until it runs. */
export async function startGatedJob(
  box: Sandbox,
  id: string,
  exitCode = 0,
  more: Record<string, unknown> = {},
): Promise<GatedJob> {
  const job = gatedJob(box, id);
  await enqueue(box, id, gatedCommand(id, exitCode), { max_retries: 1, ...more });
  await until(() => job.traces().includes('start'), `${id} has started`);
  return job;
}

export function gatedJob(box: Sandbox, id: string): GatedJob {
  return {
    id,
    letGo: () => writeFileSync(join(box.directory, `${id}.go`), ''),
    traces: () => lines(join(box.directory, `${id}.log`)),
  };
}

export function gatedCommand(id: string, exitCode = 0): string {
  const wait = `until [ -e ${id}.go ]; do sleep 0.05; done`;
  return `echo start >> ${id}.log; ${wait}; echo end >> ${id}.log; exit ${exitCode}`;
}
