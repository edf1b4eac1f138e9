import { QueueError } from '../../core/errors.ts';
import { type Idempotency, KEY_KEPT_MS } from '../../core/idempotency.ts';
import type { GoneJob, Job } from '../../core/job.ts';
import type { Connection } from './connection.ts';
import { toJob } from './rows.ts';
import * as sql from './sql/jobs.ts';

interface Answer {
  ids: string[];
  usedAt: number;
}

/**
 * Takes an idempotency key in the transaction that adds its jobs, and returns null. If the key was used before, returns what
 * that use has added, or throws if the body differs.
 */
export function takeKey(db: Connection, { key, body }: Idempotency, now: number): Answer | null {
  db.run(sql.freeKey, key, now - KEY_KEPT_MS);
  if (db.run(sql.takeKey, key, body, now) === 1) return null;
  const row = db.get(sql.answerOfKey, key)!;
  if (row.body === body) return { ids: JSON.parse(row.ids as string), usedAt: row.used_at as number };
  throw new QueueError('key-reused', `the idempotency key '${key}' was already used for a different request`);
}

export function keepAnswer(db: Connection, { key }: Idempotency, ids: string[]): void {
  db.run(sql.keepAnswer, JSON.stringify(ids), key);
}

export function answeredJob(db: Connection, id: string, usedAt: number): Job | GoneJob {
  const row = db.get(sql.jobById, id);
  // A younger job is another one with the same id.
  if (row === undefined || (row.created_at as number) > usedAt) return { id, existing: true, gone: true };
  return { ...toJob(row), existing: true };
}
