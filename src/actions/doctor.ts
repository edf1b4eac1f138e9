import { type Finding, ok, warn } from '../core/rules/finding.ts';
import { formatBytes, formatCount } from '../core/text/numbers.ts';
import { formatDuration } from '../core/time/duration.ts';
import { processes } from '../exec/processes.ts';
import { runsThisExecutable } from '../exec/program.ts';
import type { Leftover } from '../files/write.ts';
import { type Host, knownHost } from '../state/host.ts';
import type { StateDirectory } from '../state/state-directory.ts';
import type { Worker } from '../store/contract/workers.ts';
import { careOf, peekStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import { leftoversIn } from './leftovers.ts';
import { hostsOf, onHosts } from './workers/stop-workers.ts';
import { isActive, presence } from './workers/workers.ts';

/** `doctor` warns if the limit of open files is below this number. */
const MIN_OPEN_FILES = 256;

/** Checks the runtime, the store, its workers and the limits. Changes nothing. `readAll` reads the whole store, which takes long. */
export async function diagnose(location: string, now: number, readAll: boolean): Promise<Finding[]> {
  const care = await careOf(location);
  const inspection = await care.inspect(location, readAll);
  const { path, stateDirectory, isReadable, engine, files, contents } = inspection;
  const store = isReadable ? await peekStore(location) : null;
  const leftovers = care.leftovers(path);
  if (stateDirectory !== null) leftovers.push(...leftoversIn(stateDirectory));
  const findings = [checkRuntime(), engine, ...checkUser(), ...files];
  findings.push(checkLeftovers(leftovers), ...contents);
  if (store !== null && stateDirectory !== null) {
    findings.push(...(await diagnoseWork(store, stateDirectory, now)));
    await store.close();
  }
  return [...findings, checkOpenFiles()];
}

/** The variables that a runtime reads before it runs queuectl. They can load other code or open the port of a debugger. */
const RUNTIME_VARIABLES = { bun: /^BUN_(OPTIONS|INSPECT(_\w+)?)$/, node: /^NODE_OPTIONS$/ };

function checkRuntime(): Finding {
  const { bun, node } = process.versions;
  const name = bun === undefined ? `node ${node}` : `bun ${bun}`;
  const pattern = RUNTIME_VARIABLES[bun === undefined ? 'node' : 'bun'];
  const setNames = Object.keys(process.env).filter((one) => pattern.test(one));
  if (setNames.length > 0)
    return warn(
      'runtime',
      `${name} reads ${setNames.join(' and ')}, which can load other code into queuectl or open a debugger port`,
      `unset ${setNames.join(' ')}`,
    );
  return ok('runtime', `${name} on ${process.platform} ${process.arch}`);
}

function checkUser(): Finding[] {
  return process.getuid?.() === 0
    ? [warn('user', 'root: every job runs with full privileges', 'run the workers as another user')]
    : [];
}

function checkLeftovers(leftovers: Leftover[]): Finding {
  if (leftovers.length === 0) return ok('leftovers', 'none');
  const bytes = formatBytes(leftovers.reduce((sum, one) => sum + one.bytes, 0));
  const names = leftovers.slice(0, 3).map((one) => one.path);
  if (leftovers.length > names.length) names.push(`${leftovers.length - names.length} more`);
  return warn(
    'leftovers',
    `killed processes left files behind (${bytes}): ${names.join(', ')}`,
    'to remove them: queuectl worker start',
  );
}

function checkOpenFiles(): Finding {
  const limit = processes.inheritedOpenFileLimit();
  if (limit === null) return ok('open files', 'unknown');
  const text = /^\d+$/.test(limit) ? `limit of ${formatCount(Number(limit))} per job` : limit;
  return Number(limit) < MIN_OPEN_FILES ? warn('open files', text, 'ulimit -n 1024') : ok('open files', text);
}

/** `doctor` warns if a time in the store is further in the future than this. */
const CLOCK_SLACK_MS = 5000;

/** Checks the workers, their jobs and the clock. */
async function diagnoseWork(store: Store, state: StateDirectory, now: number): Promise<Finding[]> {
  const workers = await store.workers();
  const host = knownHost(state);
  const live = workers.filter((worker) => isActive(worker, host));
  const stale = workers.filter((worker) => !live.includes(worker));
  const liveIds = new Set(live.map((worker) => worker.id));
  const stuck = (await store.runningJobs()).filter((job) => !liveIds.has(job.workerId ?? ''));
  return [
    live.length === 0
      ? warn('workers', 'none running', 'queuectl worker start')
      : ok('workers', `${live.length} running${onHosts(hostsOf(live))}`),
    ...checkExecutables(live, host),
    stale.length === 0
      ? ok('stale workers', 'none')
      : warn(
          'stale workers',
          `${stale.length} stopped without unregistering${onHosts(hostsOf(stale))}`,
          'queuectl worker start',
        ),
    stuck.length === 0
      ? ok('stuck jobs', 'none')
      : warn(
          'stuck jobs',
          `${stuck.length} assigned to a worker that is gone, such as ${stuck[0]!.id}`,
          'queuectl worker start',
        ),
    checkClock(await latestTime(store, workers), now),
  ];
}

function checkExecutables(live: Worker[], host: Host | null): Finding[] {
  const here = live.filter((worker) => presence(worker, host) === 'alive');
  const others = here.filter((worker) => runsThisExecutable(worker.pid) === false);
  if (others.length === 0) return [];
  const pids = others.map((worker) => worker.pid).join(', ');
  const message = `a different queuectl executable is running as process ${pids}`;
  return [warn('version', message, 'queuectl worker stop --leave; queuectl worker start')];
}

/** Returns the latest time in the store: the creation of the newest job, or the last heartbeat. */
async function latestTime(store: Store, workers: Worker[]): Promise<number> {
  const [newest] = await store.list({}, { limit: 1 });
  return Math.max(newest?.createdAt ?? 0, ...workers.map((worker) => worker.lastHeartbeat));
}

/** Warns if the store has a time in the future. Then this clock was set back, or the clock of another machine is wrong. */
function checkClock(latest: number, now: number): Finding {
  const ahead = latest - now;
  if (ahead <= CLOCK_SLACK_MS) return ok('clock', new Date(now).toISOString());
  const text = `${formatDuration(ahead)} behind the latest time in the store`;
  return warn('clock', text, 'timedatectl set-ntp true');
}
