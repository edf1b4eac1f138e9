import { QueueError } from '../../core/errors.ts';
import { COMMAND_LIMIT, checkCommand } from '../../core/jobs/command-text.ts';
import { checkAtMostOnce, checkSameKey } from '../../core/jobs/enqueue-rules.ts';
import type { GoneJob, Job, JobSpec, Uniqueness } from '../../core/jobs/job.ts';
import { withDefaults } from '../../core/jobs/job-defaults.ts';
import type { JobInput } from '../../core/jobs/job-input.ts';
import { defaultJobSettings } from '../../core/settings/default-settings.ts';
import type { JobSettings } from '../../core/settings/settings.ts';
import { byteLength, mapped } from '../../core/text/language.ts';
import { shellWord } from '../../core/text/shell-quote.ts';
import type { SqlClient } from '../../core/wire/sql-client.ts';
import { checkDirectoryName } from '../../exec/environment.ts';
import { type App, readStoredSettings } from '../app.ts';

/** Storing the jobs is tried at most this many times. If a generated id is taken, which is very rare, all get new ids. */
const ID_TRIES = 5;

/**
 * Stores all jobs durably or none, and wakes the workers. Returns the result of `keep` for each job, or the jobs
 * themselves without `keep`. Reads the inputs one by one, perhaps several times, so that many jobs need little memory. `cwd` returns the
 * working directory for inputs without one.
 */
export async function enqueue<T = Job | GoneJob>(
  app: App,
  inputs: Iterable<JobInput>,
  cwd: () => string,
  keep?: (job: Pick<Job, 'id' | 'existing'>) => T,
): Promise<T[]> {
  const { settings } = await readStoredSettings(app, defaultJobSettings);
  const now = app.clock.now();
  // All inputs must have the same idempotency key, so the key of the first one is enough.
  const [first] = inputs;
  const key = first?.idempotencyKey;
  const idempotency =
    key === undefined ? undefined : (await import('./idempotency.ts')).idempotencyOf(key, inputs);
  let hasGivenId = false;
  const newId = (): string => app.newId(now);
  const toSpec = (input: JobInput): JobSpec => {
    if (input.idempotencyKey !== key) checkSameKey(input, key);
    hasGivenId ||= input.id !== undefined;
    if (input.policy !== undefined) checkAtMostOnce(input);
    const spec = fillIn(input, cwd, settings, newId);
    if (input.runAtFrom) spec.runAt = input.runAtFrom(now);
    checkDirectoryName(spec.cwd);
    return spec;
  };
  const isOne = Array.isArray(inputs) && inputs.length === 1;
  for (let tries = 1; ; tries++) {
    try {
      const specs = isOne ? [toSpec(first!)] : mapped(inputs, toSpec);
      const added = await app.store.insert(specs, now, keep, idempotency);
      app.wakeups.wake();
      return added;
    } catch (error) {
      const idIsTaken = error instanceof QueueError && error.code === 'job-exists';
      // Duplicates are searched for only now, because that needs memory for all ids.
      if (idIsTaken && hasGivenId) refuseDuplicateIds(inputs);
      if (!idIsTaken || hasGivenId || tries === ID_TRIES) throw error;
    }
  }
}

/** Throws if two inputs have the same id. */
function refuseDuplicateIds(inputs: Iterable<JobInput>): void {
  const firstUses = new Map<string, number>();
  let number = 0;
  for (const { id } of inputs) {
    number++;
    if (id === undefined) continue;
    const first = firstUses.get(id);
    if (first !== undefined)
      throw new QueueError('job-exists', `id '${id}' is used twice, by job ${first} and job ${number}`);
    firstUses.set(id, number);
  }
}

/** Returns a complete job: the fields of the input, and defaults for the others. Throws if fields contradict each other. */
export function fillIn(
  input: JobInput,
  cwd: () => string,
  settings: JobSettings,
  newId: () => string,
): JobSpec {
  const argv = input.argv ?? null;
  const command = input.command ?? (argv === null ? undefined : readableCommand(argv));
  if (command === undefined) throw invalidJob('command is missing');
  // The JSON of an existing job has both fields. Then `command` is the readable form of `argv`.
  if (argv !== null && command !== readableCommand(argv))
    throw invalidJob('command and argv cannot be used together; give only one of them');
  const spec = withDefaults(input);
  spec.id ??= newId();
  spec.command = command;
  spec.maxRetries = input.maxRetries ?? (input.policy?.atMostOnce ? 1 : settings['max-retries']);
  if (input.timeoutMs === undefined) spec.timeoutMs = settings['job-timeout'];
  spec.cwd ??= cwd();
  if (input.policy !== undefined) checkPolicy(spec);
  if (input.unique !== undefined) spec.unique = uniqueOf(input.unique);
  if (input.hold) spec.hold = true;
  // An empty standard input is the same as none.
  spec.stdin ||= null;
  if (spec.secretEnv.length > 0) checkSecrets(spec);
  return spec;
}

export const invalidJob = (why: string): QueueError => new QueueError('invalid-job', why);

/** Throws if the retry options of a job contradict each other. */
function checkPolicy({ policy, backoffBase }: JobSpec): void {
  const codeInBoth = policy.retryOn?.find((code) => policy.noRetryOn?.includes(code));
  if (codeInBoth !== undefined)
    throw invalidJob(`exit code ${codeInBoth} is in both retry_on and no_retry_on`);
  if (backoffBase !== null && policy.backoff !== undefined && policy.backoff !== 'exponential')
    throw invalidJob(
      `backoff_base only works with exponential backoff; with ${policy.backoff} backoff, use retry_delay`,
    );
}

/** Throws if a secret variable, whose value comes from the worker, also has a stored value. */
export function checkSecrets({ secretEnv, env }: Pick<JobSpec, 'secretEnv' | 'env'>): void {
  const nameInBoth = secretEnv.find((name) => Object.hasOwn(env, name));
  if (nameInBoth !== undefined)
    throw invalidJob(
      `${nameInBoth} is in both env and secret_env; a secret takes its value from the worker's environment`,
    );
}

/** Returns the uniqueness of a job. By default, its key is reserved until the job has ended. */
function uniqueOf(unique: NonNullable<JobInput['unique']>): Uniqueness {
  if (unique.key === undefined) throw invalidJob('unique_for and unique_while require a unique_key');
  if (unique.forMs !== undefined && unique.while !== undefined)
    throw invalidJob('unique_for and unique_while cannot be used together; give only one of them');
  return { key: unique.key, while: unique.while ?? 'active', forMs: unique.forMs ?? null };
}

/** Returns `argv` as a user would type it, shortened if it is very long. The text is only shown and never run. */
export function readableCommand(argv: string[]): string {
  const quoted = argv.map(shellWord).join(' ');
  return byteLength(quoted) <= COMMAND_LIMIT ? quoted : `${quoted.slice(0, 1000).toWellFormed()}…`;
}

/**
 * Returns the app for an enqueue in the transaction that the caller has begun on `client`. The store wakes the workers when the
 * caller commits. Throws if the queue is a file.
 */
export function inTransactionOf(app: App, client: SqlClient): App {
  const { store, wakeups } = app;
  if (store.insertOn === undefined)
    throw new QueueError(
      'wrong-state',
      "the option 'client' needs a queue in PostgreSQL, and this queue is a file",
      'open the queue with a URL such as postgres://app@db.example.com/app',
    );
  return { ...app, store: { ...store, insert: store.insertOn(client) }, wakeups: { ...wakeups, wake() {} } };
}

/** Tells whether a text begins with `{` or `[` after any white space. It is then read as JSON, and otherwise as a command. */
export function looksLikeJson(text: string): boolean {
  const start = text.trimStart()[0];
  return start === '{' || start === '[';
}

export function readCommand(text: string): JobInput {
  return { command: checkCommand(text, 'command') };
}
