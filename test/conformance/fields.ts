import { expect } from 'bun:test';
import type { NamedField } from '../../src/core/jobs/field.ts';
import { fieldValue, KEPT_FIELDS } from '../../src/core/jobs/field-list.ts';
import type { JobSpec } from '../../src/core/jobs/job.ts';
import { isEditable } from '../../src/core/jobs/job-changes.ts';
import { JOB_DEFAULTS } from '../../src/core/jobs/job-defaults.ts';
import type { Schema } from '../../src/core/wire/schema.ts';
import { ids, jobSpec, NOW } from '../support/jobs.ts';
import type { Case } from './topic.ts';

const SAMPLE_WORD = 'sample';
const MAX_SAMPLE_NUMBER = 1500;
/** A store may insert a batch of this size with another statement than a single job. */
const BATCH_SIZE = 60;

/** Returns a value that a user could give and that is not the default: `number` for a field that is a number. */
function sampleOf(schema: Schema, number: number): unknown {
  const { type, enum: names, anyOf, examples, items } = schema as Record<string, never[]>;
  if (examples !== undefined) return examples[0];
  if (names !== undefined) return names.at(-1);
  if (anyOf !== undefined) return sampleOf(anyOf[0]!, number);
  if (items !== undefined) return [sampleOf(items as unknown as Schema, number)];
  switch ([type].flat()[0] as unknown) {
    case 'boolean':
      return true;
    case 'object':
      return { [SAMPLE_WORD]: SAMPLE_WORD };
    case 'string':
      return SAMPLE_WORD;
    default:
      return number;
  }
}

/** Parses a sample like an enqueue. Only the sample of the working directory needs a slash. */
function valueFor({ name, type, accepts = type, range, read }: NamedField): unknown {
  const sample = sampleOf(accepts!, Math.min(range?.max ?? MAX_SAMPLE_NUMBER, MAX_SAMPLE_NUMBER));
  return read(name === 'cwd' ? `/${sample}` : sample, name, NOW);
}

/** Returns a job that sets one field. */
function jobWith(id: string, field: NamedField): JobSpec {
  const { key, in: group } = field;
  const value = valueFor(field);
  if (group === undefined) return jobSpec(id, { [key]: value });
  if (group === 'unique') return jobSpec(id, { unique: { key: SAMPLE_WORD, while: 'active', forMs: null } });
  return jobSpec(id, { [group]: { [key]: value } });
}

function insertCase(field: NamedField): Case {
  return async ({ store }) => {
    // The sample of depends_on names this job.
    await store.insert([jobSpec(SAMPLE_WORD)], NOW - 1);
    const alone = jobWith('alone', field);
    expect(fieldValue(alone, field)).not.toEqual(JOB_DEFAULTS[field.key]);
    const batch = Array.from({ length: BATCH_SIZE }, (_, i) => jobSpec(`job-${i}`));
    batch[7] = jobWith('in-batch', field);
    for (const jobs of [[alone], batch]) {
      await store.insert(jobs, NOW);
      for (const job of jobs) {
        expect(await store.get(job.id)).toMatchObject({ ...job, stdin: null });
        expect(await store.stdin(job.id)).toBe(job.stdin);
      }
      await store.remove(ids(jobs), ['pending'], NOW);
    }
  };
}

function editCase(field: NamedField): Case {
  return async ({ store }) => {
    await store.insert([jobSpec('job')], NOW);
    const value = valueFor(field);
    expect(await store.edit(['job'], { [field.key]: value }, NOW)).toEqual(['job']);
    expect(await store.get('job')).toMatchObject({ ...jobSpec('job'), [field.key]: value });
  };
}

/** Cases for each row of the table of job fields, except the id, which every job sets. */
export const fields: Record<string, Case> = Object.fromEntries(
  KEPT_FIELDS.filter((field) => field.name !== 'id').flatMap((field) => [
    [`${field.name} is stored for a single job and for a job in a batch`, insertCase(field)],
    ...(isEditable(field) ? [[`${field.name} is stored by an edit`, editCase(field)] as const] : []),
  ]),
);
