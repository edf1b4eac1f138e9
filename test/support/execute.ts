import { expect } from 'bun:test';
import { type JobJson, type Sandbox, until } from './queuectl.ts';

export interface JobDetails extends JobJson {
  argv: string[] | null;
  history: {
    attempt: number;
    outcome: string;
    output_bytes: number;
    output_truncated: boolean;
    left_behind: number[];
  }[];
}

/** A completed or dead job with the output of its last attempt. */
export interface EndedJob {
  job: JobDetails;
  output: string;
}

export async function untilEnded(box: Sandbox, id: string): Promise<EndedJob> {
  const job = await until(async () => {
    const seen = await box.json<JobDetails>(['show', id]);
    return seen.state === 'completed' || seen.state === 'dead' ? seen : false;
  }, `${id} has ended`);
  return { job, output: (await box.run(['logs', id])).stdout };
}

/** Enqueues a job object, with one attempt unless it sets `max_retries`, and waits until the job has ended. */
export async function execute(box: Sandbox, job: object): Promise<EndedJob> {
  const stdin = JSON.stringify({ max_retries: 1, ...job });
  const added = await box.run(['enqueue', '--file', '-'], { stdin });
  expect(added).toMatchObject({ code: 0, stderr: '' });
  return untilEnded(box, added.stdout.trim());
}
