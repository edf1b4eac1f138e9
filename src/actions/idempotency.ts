import { createHash } from 'node:crypto';
import { canonical, type Idempotency } from '../core/idempotency.ts';
import type { JobInput } from '../core/job-fields.ts';

/** The key with the hash of all that is enqueued under it; a stream is read through for it. */
export function withBody(key: string, inputs: Iterable<JobInput>): Idempotency {
  const hash = createHash('sha256');
  for (const input of inputs) hash.update(`${canonical(input)}\n`);
  return { key, body: hash.digest('hex') };
}
