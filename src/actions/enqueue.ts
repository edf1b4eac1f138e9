import { COMMAND_LIMIT } from '../core/command-text.ts';
import { QueueError } from '../core/errors.ts';
import { withDefaults } from '../core/field-list.ts';
import { checkSameKey } from '../core/idempotency.ts';
import type { GoneJob, Job, JobSpec, Uniqueness } from '../core/job.ts';
import { checkAtMostOnce, type JobInput } from '../core/job-input.ts';
import type { Settings } from '../core/settings.ts';
import { shellWord } from '../core/shell-quote.ts';
import { checkDirectoryName } from '../exec/working-directory.ts';
import { wake } from '../state/wake.ts';
import { type App, currentSettings } from './app.ts';

/** Generated ids hardly ever collide, so a few tries are always enough. */
const ID_TRIES = 5;

/**
 * Stores all jobs durably or none, and wakes the workers. Returns what `keep` makes of each. The inputs are read one by one while
 * they are stored, so that a long stream needs little memory. They may be read again from the start.
 */
export async function enqueue<T = Job | GoneJob>(
  app: App,
  inputs: Iterable<JobInput>,
  cwd: () => string,
  keep?: (job: Pick<Job, 'id' | 'existing'>) => T,
): Promise<T[]> {
  const settings = await currentSettings(app);
  const now = app.clock.now();
  // All jobs that are enqueued together have the same idempotency key, so the first one is enough.
  const [first] = inputs;
  const key = first?.idempotencyKey;
  const once = key === undefined ? undefined : (await import('./idempotency.ts')).withBody(key, inputs);
  let named = false;
  const newId = (): string => app.newId(now);
  const specs: Iterable<JobSpec> = {
    *[Symbol.iterator]() {
      for (const input of inputs) {
        checkSameKey(input, key);
        named ||= input.id !== undefined;
        checkAtMostOnce(input);
        const spec = fillIn(input, cwd, settings, newId);
        checkDirectoryName(spec.cwd);
        yield spec;
      }
    },
  };
  for (let tries = 1; ; tries++) {
    try {
      const kept = await app.store.insert(specs, now, keep, once);
      wake(app.stateDirectory);
      return kept;
    } catch (error) {
      const clash = error instanceof QueueError && error.code === 'job-exists';
      if (clash && named) refuseTwins(inputs);
      if (!clash || named || tries === ID_TRIES) throw error;
    }
  }
}

/** Throws if two of the jobs have the same id. Called only after an id was refused, because it needs memory for all ids. */
function refuseTwins(inputs: Iterable<JobInput>): void {
  const seen = new Map<string, number>();
  let number = 0;
  for (const { id } of inputs) {
    number++;
    if (id === undefined) continue;
    const first = seen.get(id);
    if (first !== undefined)
      throw new QueueError('job-exists', `id '${id}' is used twice, by job ${first} and job ${number}`);
    seen.set(id, number);
  }
}

/** Completes the fields that a user has set to a whole job. */
export function fillIn(input: JobInput, cwd: () => string, settings: Settings, newId: () => string): JobSpec {
  const argv = input.argv ?? null;
  const command = input.command ?? (argv === null ? undefined : readable(argv));
  if (command === undefined) throw new QueueError('invalid-job', 'command is missing');
  // A printed job has both, and they agree.
  if (argv !== null && command !== readable(argv)) {
    throw new QueueError('invalid-job', 'command and argv cannot be used together; give only one of them');
  }
  const spec = withDefaults(input);
  spec.id ??= newId();
  spec.command = command;
  spec.maxRetries = maxRetriesOf(input, settings);
  if (input.timeoutMs === undefined) spec.timeoutMs = settings['job-timeout'];
  spec.cwd ??= cwd();
  checkPolicy(spec);
  spec.unique = uniqueOf(input);
  if (input.hold) spec.hold = true;
  // An empty standard input is the same as none.
  spec.stdin ||= null;
  checkSecrets(spec);
  return spec;
}

/** Returns the maximum number of attempts. An at-most-once job has one, even if a schedule of an older version has more. */
function maxRetriesOf({ maxRetries, policy }: JobInput, settings: Settings): number {
  if (policy?.atMostOnce) return Math.min(1, maxRetries ?? 1);
  return maxRetries ?? settings['max-retries'];
}

/** Throws if one part of the policy contradicts another. */
function checkPolicy({ policy, backoffBase }: JobSpec): void {
  const both = policy.retryOn?.find((code) => policy.noRetryOn?.includes(code));
  if (both !== undefined)
    throw new QueueError('invalid-job', `exit code ${both} is in both retry_on and no_retry_on`);
  if (backoffBase !== null && policy.backoff !== undefined && policy.backoff !== 'exponential')
    throw new QueueError(
      'invalid-job',
      `backoff_base only works with exponential backoff; with ${policy.backoff} backoff, use retry_delay`,
    );
}

/** Throws if a variable is to have a stored value and that of the worker. */
export function checkSecrets({ secretEnv, env }: Pick<JobSpec, 'secretEnv' | 'env'>): void {
  if (secretEnv.length === 0) return;
  const both = secretEnv.find((name) => Object.hasOwn(env, name));
  if (both !== undefined)
    throw new QueueError(
      'invalid-job',
      `${both} is in both env and secret_env; a secret takes its value from the worker's environment`,
    );
}

/** Checks the uniqueness of a job. By default it lasts while the job is pending or running. */
function uniqueOf({ unique }: JobInput): Uniqueness | null {
  if (unique === undefined) return null;
  if (unique.key === undefined)
    throw new QueueError('invalid-job', 'unique_for and unique_while require a unique_key');
  if (unique.forMs !== undefined && unique.while !== undefined) {
    throw new QueueError(
      'invalid-job',
      'unique_for and unique_while cannot be used together; give only one of them',
    );
  }
  return { key: unique.key, while: unique.while ?? 'active', forMs: unique.forMs ?? null };
}

/** Returns the argv as a user would type it. It is only shown and never run. */
export function readable(argv: string[]): string {
  const quoted = argv.map(shellWord).join(' ');
  return Buffer.byteLength(quoted) <= COMMAND_LIMIT ? quoted : `${quoted.slice(0, 1000).toWellFormed()}…`;
}
