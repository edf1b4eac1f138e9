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

/** A generated id meets an existing one about never; a few tries are for ever enough. */
const ID_TRIES = 5;

/**
 * Stores all of them or none, durably, and wakes the workers. Answers what `keep` makes of each. The inputs are taken
 * one by one while they are stored, so a stream of any length needs no room; they must bear being read again.
 */
export async function enqueue<T = Job | GoneJob>(
  app: App,
  inputs: Iterable<JobInput>,
  cwd: () => string,
  keep?: (job: Pick<Job, 'id' | 'existing'>) => T,
): Promise<T[]> {
  const settings = await currentSettings(app);
  const kept = await insert(app, inputs, cwd, settings, keep);
  wake(app.stateDirectory);
  return kept;
}

async function insert<T>(
  app: App,
  inputs: Iterable<JobInput>,
  cwd: () => string,
  settings: Settings,
  keep?: (job: Pick<Job, 'id' | 'existing'>) => T,
): Promise<T[]> {
  const now = app.clock.now();
  const key = keyOf(inputs);
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
      return await app.store.insert(specs, now, keep, once);
    } catch (error) {
      const clash = error instanceof QueueError && error.code === 'job-exists';
      if (clash && named) refuseTwins(inputs);
      if (!clash || named || tries === ID_TRIES) throw error;
    }
  }
}

/** One key is for all that is enqueued together, so the first job has it. */
function keyOf(inputs: Iterable<JobInput>): string | undefined {
  for (const { idempotencyKey } of inputs) return idempotencyKey;
  return undefined;
}

/** Asked only when an id was refused: nobody remembers the ids of a long file for it. */
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

/** Completes what a user has set to a whole job. */
export function fillIn(input: JobInput, cwd: () => string, settings: Settings, newId: () => string): JobSpec {
  const argv = input.argv ?? null;
  const command = input.command ?? (argv === null ? undefined : readable(argv));
  if (command === undefined) throw new QueueError('invalid-job', 'command is missing');
  // A printed job has both, and then they agree.
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
  // A command without standard input reads nothing, too.
  spec.stdin ||= null;
  checkSecrets(spec);
  return spec;
}

/** An at-most-once job has one attempt, also where a schedule of an older version says otherwise. */
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

/** Without more said, no second one while the first is pending or running. */
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

/** The argv as one would type it; only for reading, it is never run. */
export function readable(argv: string[]): string {
  const quoted = argv.map(shellWord).join(' ');
  return Buffer.byteLength(quoted) <= COMMAND_LIMIT ? quoted : `${quoted.slice(0, 1000).toWellFormed()}…`;
}
