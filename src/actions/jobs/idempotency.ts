import { createHash } from 'node:crypto';
import { canonicalText, checkSameKey, type Idempotency } from '../../core/jobs/enqueue-rules.ts';
import type { JobInput } from '../../core/jobs/job-input.ts';

/** Returns the key with a hash of all inputs. Throws if an input has another key. */
export function idempotencyOf(key: string, inputs: Iterable<JobInput>): Idempotency {
  const hash = createHash('sha256');
  for (const input of inputs) {
    checkSameKey(input, key);
    hash.update(`${canonicalText(input)}\n`);
  }
  return { key, body: hash.digest('hex') };
}
