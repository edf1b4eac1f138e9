import { randomBytes } from 'node:crypto';
import { type App, actorOf, closeApp, currentSettings, openApp } from '../../actions/app.ts';
import { clearLeftovers } from '../../actions/leftovers.ts';
import { QueueError, usageError } from '../../core/errors.ts';
import { checkName } from '../../core/jobs/id.ts';
import { RANGES } from '../../core/settings/settings.ts';
import { shellWord } from '../../core/text/shell-quote.ts';
import { countOf } from '../../core/text/words.ts';
import { systemClock } from '../../core/time/clock.ts';
import { toIso } from '../../core/time/time.ts';
import { sweepLifelines } from '../../exec/lifeline.ts';
import { processes } from '../../exec/processes.ts';
import { STORE_VARIABLE } from '../../exec/program.ts';
import { restartWithFewThreads } from '../../exec/self.ts';
import { trimAllAttempts } from '../../exec/trim.ts';
import { refuseProblems } from '../../files/own-files.ts';
import { HOST_NAME_VARIABLE, hostName } from '../../files/read.ts';
import { lineWriter } from '../../observe/line-writer.ts';
import { refuseForeignProc } from '../../state/host.ts';
import { contentProblems } from '../../state/state-problems.ts';
import { CALL_TIMEOUT_MS } from '../../worker/loops.ts';
import { sweepAttempts } from '../../worker/pruning.ts';
import { perCallStore, supervise, untilRegistrable } from '../../worker/supervisor.ts';
import { type Context, defineCommand, GUARD_PROCESS, type Input, WORKER_PROCESS } from '../frame/command.ts';
import { argumentsWithoutUrl, detach, keepLogShort, logPath } from '../frame/detach.ts';
import { numberFlag } from '../frame/read-flags.ts';

const SIGHUP_NUMBER = 1;
/** A start of workers that leaves fewer connections than this gets a warning. */
const SPARE_CONNECTIONS = 5;

export default defineCommand({
  name: 'worker start',
  summary: 'Start workers to run jobs',
  access: 'work',
  creates: true,
  flags: {
    count: { value: 'N', short: 'c', help: 'number of worker processes (default: the worker-count setting)' },
    concurrency: { value: 'K', help: 'maximum number of concurrent jobs per worker process (default: 1)' },
    queue: { value: 'A,B', many: true, help: 'run only jobs from these queues (default: all queues)' },
    detach: { help: 'run in the background, and return when the workers are ready' },
    'clean-env': { help: 'treat all jobs as if they were enqueued with --clean-env' },
    drain: { help: 'exit when no job is ready, running or waiting for a retry' },
    supervisor: { value: 'ID', help: '', hidden: true },
    'open-files': { value: 'N', help: '', hidden: true },
  },
  examples: [
    'queuectl worker start',
    'queuectl worker start --count 4 --concurrency 2',
    'queuectl worker start --queue mail,reports --detach',
    'queuectl worker start --drain',
  ],
  notes: [
    'By default, workers run in the foreground, which suits a terminal, systemd or Docker. With --detach, they run in the background. You can run this command several times to start more workers.',
    'After the first Ctrl-C or SIGTERM, the workers finish their running jobs and exit. After the second, they stop the jobs and put them back in their queues. If a worker crashes, its jobs keep running, and the next worker takes them over.',
  ],
  usageHint: ([first = '']) =>
    /^\d+$/.test(first)
      ? `to start ${first} workers: queuectl worker start --count ${shellWord(first)}`
      : undefined,
  async run(context, input) {
    if (process.platform === 'win32') {
      throw new QueueError('unsupported-platform', 'workers require Linux, macOS or WSL');
    }
    refuseForeignProc();
    const { args, variables } = argumentsWithoutUrl(context, input);
    restartWithFewThreads(args, variables);
    const givenCount = numberFlag(input, 'count', RANGES.workerCount);
    const workerArguments = readWorkerArguments(context, input);
    const app = await context.app();
    if (!context.anyOwner) refuseProblems(contentProblems(app.stateDirectory));
    const id = supervisorId(input.one('supervisor'));
    const settings = await currentSettings(app);
    const count = givenCount ?? settings['worker-count'];
    const freeSpace = (): Promise<void> => trimAllAttempts(app.stateDirectory, settings['output-limit']);
    // The background process gets the same arguments and --supervisor.
    const detaches = input.has('detach') && !input.has('supervisor');
    if (detaches) await untilRegistrable(app, id, freeSpace);
    if (process.getuid?.() === 0 && !input.has('supervisor'))
      context.io.warn('the workers run as root, so every job has full control of this machine');
    if (process.pid === 1)
      context.io.warn(
        'queuectl is running as PID 1, so processes that jobs leave behind are never reaped. Use an init process, such as docker run --init',
      );
    if (detaches) {
      await warnOfLastConnections(context, app, count);
      return detach(context, app, { args, variables, id, count, drain: input.has('drain') });
    }
    // Lines are written asynchronously, so that a blocked log does not delay the handling of signals.
    const stderr = lineWriter(2);
    const log = (line: string): void => {
      if (!context.io.quiet) stderr.line(`${toIso(systemClock.now())} ${line}`);
    };
    // The supervisor registers first, so that a stop reaches it.
    const isForeground = !input.has('supervisor');
    void (isForeground ? warnOfLastConnections(context, app, count) : Promise.resolve()).then(() =>
      sweep(app, context.location, log),
    );
    const store = perCallStore(app.store, async () => {
      const { anyOwner } = context;
      const storeTimeoutMs = CALL_TIMEOUT_MS;
      const options = { access: 'work', ifMissing: 'refuse', anyOwner, storeTimeoutMs } as const;
      return (await openApp(context.location, actorOf(context.environment), options)).store;
    });
    const ignoreHangup = processes.ignoresSignal(SIGHUP_NUMBER);
    if (ignoreHangup) workerArguments.push('--nohup');
    workerArguments.push('--supervisor', id, '--since', String(systemClock.now()));
    if (input.has('supervisor')) keepLogShort(logPath(app.stateDirectory, id));
    try {
      const workerVariables = { [STORE_VARIABLE]: context.location };
      const guardArguments = [GUARD_PROCESS, ...(context.io.quiet ? ['--quiet'] : [])];
      const worker = { workerArguments, workerVariables, guardArguments };
      const options = { ...worker, id, count, ignoreHangup, log, freeSpace };
      await supervise({ ...app, store }, options);
    } finally {
      await stderr.flushed();
    }
    return 0;
  },
});

/** Warns if idle workers would leave few connections of the server to commands and other programs. */
async function warnOfLastConnections({ io }: Context, app: App, count: number): Promise<void> {
  const free = await app.freeConnections?.().catch(() => null);
  const needed = 2 * count + 1;
  if (free == null || needed <= free - SPARE_CONNECTIONS) return;
  io.warn(
    `${countOf(count, 'worker')} need ${needed} connections, and the server has ${Math.max(0, free)} left; then commands cannot connect. Start fewer workers with a higher --concurrency, or raise max_connections of the server`,
  );
}

/** Returns the given id or a new one. Only generated ids are allowed, because the id becomes part of a file name. */
function supervisorId(given: string | undefined): string {
  if (given !== undefined && !/^[0-9a-f]{12}$/.test(given)) {
    throw usageError('--supervisor is for internal use only');
  }
  return given ?? randomBytes(6).toString('hex');
}

function readWorkerArguments(context: Context, input: Input): string[] {
  const slots = numberFlag(input, 'concurrency', RANGES.concurrency) ?? 1;
  const args = [WORKER_PROCESS, '--concurrency', String(slots)];
  const names = input.all('queue').flatMap((text) => text.split(','));
  for (const name of names) {
    if (name.trim() !== '*') args.push('--queue', checkName(name.trim(), '--queue'));
  }
  checkName(hostName(context.environment), HOST_NAME_VARIABLE);
  const limit = input.one('open-files') ?? processes.inheritedOpenFileLimit();
  if (limit !== null) args.push('--open-files', limit);
  if (input.has('drain')) args.push('--drain');
  if (input.has('clean-env')) args.push('--clean-env');
  if (context.io.quiet) args.push('--quiet');
  const timeout = input.one('store-timeout');
  if (timeout !== undefined) args.push('--store-timeout', timeout);
  return args;
}

/** Removes leftover files while the workers start and run, and then closes the store. */
async function sweep(app: App, location: string, log: (line: string) => void): Promise<void> {
  try {
    await clearLeftovers(app, location);
    sweepLifelines(app.stateDirectory, systemClock.now());
    const removed = await sweepAttempts(app);
    if (removed > 0) log(`removed ${removed} old attempt ${removed === 1 ? 'directory' : 'directories'}`);
  } catch (error) {
    log(`cannot remove leftover files: ${(error as Error).message}`);
  } finally {
    await closeApp(app);
  }
}
