import { expect } from 'bun:test';
import { type JobJson, type Sandbox, until } from './queuectl.ts';

export interface Shown extends JobJson {
  argv: string[] | null;
  history: {
    attempt: number;
    outcome: string;
    output_bytes: number;
    output_truncated: boolean;
    left_behind: number[];
  }[];
}

/** A job that has ended, and the output of its last attempt. */
export interface Ended {
  job: Shown;
  output: string;
}

export async function ended(box: Sandbox, id: string): Promise<Ended> {
  const job = await until(async () => {
    const seen = await box.json<Shown>(['show', id]);
    return seen.state === 'completed' || seen.state === 'dead' ? seen : false;
  }, `${id} has ended`);
  return { job, output: (await box.run(['logs', id])).stdout };
}

/** Adds a job object, for one execution unless it says more, and waits for its end. */
export async function execute(box: Sandbox, job: object): Promise<Ended> {
  const stdin = JSON.stringify({ max_retries: 1, ...job });
  const added = await box.run(['enqueue', '--file', '-'], { stdin });
  expect(added).toMatchObject({ code: 0, stderr: '' });
  return ended(box, added.stdout.trim());
}
