import { QueueError } from '../core/errors.ts';
import type { Job, JobSpec } from '../core/job.ts';
import { COMMAND_LIMIT, type JobInput } from '../core/job-input.ts';
import type { Settings } from '../core/settings.ts';
import { wake } from '../exec/wake.ts';
import { type App, currentSettings } from './app.ts';

/** A generated id meets an existing one about never; a few tries are for ever enough. */
const ID_TRIES = 5;

/** Stores all of them or none, durably, and wakes the workers. */
export async function enqueue(app: App, inputs: JobInput[], cwd: () => string): Promise<Job[]> {
  const settings = await currentSettings(app);
  const jobs = await insert(app, inputs, cwd, settings);
  wake(app.stateDirectory);
  return jobs;
}

async function insert(app: App, inputs: JobInput[], cwd: () => string, settings: Settings): Promise<Job[]> {
  const now = app.clock.now();
  for (let tries = 1; ; tries++) {
    const specs = inputs.map((input) => fillIn(input, cwd, settings, () => app.newId(now)));
    try {
      return await app.store.insert(specs, now);
    } catch (error) {
      const clash = error instanceof QueueError && error.code === 'job-exists';
      const mayRepeat = clash && tries < ID_TRIES && inputs.every((input) => input.id === undefined);
      if (!mayRepeat) throw error;
    }
  }
}

/** A whole job of what was said about it. */
export function fillIn(input: JobInput, cwd: () => string, settings: Settings, newId: () => string): JobSpec {
  const argv = input.argv ?? null;
  const command = input.command ?? (argv === null ? undefined : readable(argv));
  if (command === undefined) throw new QueueError('invalid-job', 'command is missing');
  // A printed job has both, and then they agree.
  if (argv !== null && command !== readable(argv)) {
    throw new QueueError('invalid-job', 'command and argv contradict each other; give one of them');
  }
  return {
    id: input.id ?? newId(),
    command,
    argv,
    queue: input.queue ?? 'default',
    priority: input.priority ?? 0,
    maxRetries: input.maxRetries ?? settings['max-retries'],
    timeoutMs: input.timeoutMs === undefined ? settings['job-timeout'] : input.timeoutMs,
    runAt: input.runAt ?? null,
    backoffBase: input.backoffBase ?? null,
    cwd: input.cwd ?? cwd(),
    env: input.env ?? {},
    tags: input.tags ?? {},
    name: input.name ?? null,
  };
}

/** The argv as one would type it; only for reading, it is never run. */
export function readable(argv: string[]): string {
  const quoted = argv
    .map((part) => (/^[\w@%+=:,./-]+$/.test(part) ? part : `'${part.replaceAll("'", `'\\''`)}'`))
    .join(' ');
  return Buffer.byteLength(quoted) <= COMMAND_LIMIT ? quoted : `${quoted.slice(0, 1000).toWellFormed()}…`;
}
