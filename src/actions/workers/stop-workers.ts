import { QueueError } from '../../core/errors.ts';
import type { StopOrder } from '../../core/signals.ts';
import { orNull } from '../../core/text/language.ts';
import { shellWord } from '../../core/text/shell-quote.ts';
import { countOf } from '../../core/text/words.ts';
import { pause } from '../../core/time/clock.ts';
import { localWorkers } from '../../exec/local-workers.ts';
import { processes } from '../../exec/processes.ts';
import { hostName } from '../../files/read.ts';
import { isSameBoot, knownHost } from '../../state/host.ts';
import type { RegisteredProcess, Worker } from '../../store/contract/workers.ts';
import { isServerUrl } from '../../store/location.ts';
import { peekStore } from '../../store/open.ts';
import type { App } from '../app.ts';
import { locationName } from '../transfer/migrate.ts';
import { type HostHeartbeat, hostHeartbeats, lateHosts } from './host-heartbeats.ts';
import { activeSupervisors, activeWorkers, presence } from './workers.ts';

const POLL_MS = 50;
/** The time between two looks for hosts that do not answer. */
const LATE_CHECK_MS = 1000;

/** Which workers to stop. By default, all workers and supervisors of all hosts. */
export interface StopTargets {
  /** The ids of the workers. */
  workerIds?: string[];
  /** The name of a host. All its workers and supervisors are stopped. */
  host?: string;
  /** Passes the order on by signals, if the disk of a store of one host is too full to store it. */
  onFullDisk?: (() => Promise<void>) | undefined;
}

export interface StopRequest extends StopTargets {
  order: StopOrder;
  /** How long to wait, or null for no limit. The order stays in effect after the timeout. */
  timeoutMs: number | null;
  /** Is called with the workers that are left, at the start and whenever their number changes. */
  onWait(remaining: Worker[]): void;
  /** Is called, while workers are left, with those of their hosts that do not answer. */
  onLateHosts(hosts: HostHeartbeat[]): void;
  /** Is called, while processes are left, with the pids of those that a signal has stopped, if there are any. */
  onSuspended(pids: number[]): void;
}

/** The workers that were ordered to stop. */
interface Ordered {
  /** The ids of the workers and supervisors to wait for. */
  ids: string[];
  workerCount: number;
  /** The names of the hosts of these workers, in order. */
  hosts: string[];
  /** Whether a host whose lease is over was ordered to stop, too. It obeys when it reaches the store again. */
  isAway?: boolean;
}

/** Orders workers to stop and waits until they have stopped. Returns how many workers there were, and their hosts. */
export async function stopWorkers(app: App, request: StopRequest): Promise<Ordered> {
  const ordered = await orderStop(app, request.order, request);
  if (ordered.ids.length > 0) await untilGone(app, new Set(ordered.ids), request);
  return ordered;
}

/** The jobs that `worker stop --leave` has left running on hosts whose guards will stop them. */
export type LeftJobs = NonNullable<Awaited<ReturnType<typeof jobsLeftToGuards>>>;

/** Returns the running jobs that these workers have left on hosts without another worker. Returns null if there are none. */
export async function jobsLeftToGuards(app: App, workerIds: string[]) {
  const active = new Set((await activeWorkers(app)).map(({ id }) => id));
  const jobsOf = ({ id, currentJobs }: Worker): string[] => (workerIds.includes(id) ? currentJobs : []);
  const hosts = (await hostHeartbeats(app, (worker) => jobsOf(worker).length > 0)).filter(
    ({ workers }) => !workers.some(({ id }) => active.has(id)),
  );
  if (hosts.length === 0) return null;
  return {
    count: hosts.flatMap(({ workers }) => workers.flatMap(jobsOf)).length,
    hosts: hosts.map(({ name }) => name).sort(),
    /** When the first of these jobs is stopped, unless a worker of its host starts before. */
    guardedUntil: Math.min(...hosts.map((host) => host.guardedUntil)),
  };
}

/** Orders workers to stop and does not wait. Workers that are stopped by their ids are not replaced. */
export async function orderStop(
  app: App,
  order: StopOrder,
  { workerIds, host, onFullDisk }: StopTargets,
): Promise<Ordered> {
  if (host !== undefined) return orderHostToStop(app, order, { host, onFullDisk });
  if (workerIds === undefined) return orderAllToStop(app, order, onFullDisk);
  const workers = await activeWorkers(app);
  const unknownId = workerIds.find((id) => !workers.some((one) => one.id === id));
  if (unknownId !== undefined) throw new QueueError('worker-not-found', `there is no worker '${unknownId}'`);
  await storeOrder(app, workerIds, order);
  const stopped = workers.filter((one) => workerIds.includes(one.id));
  return { ids: workerIds, workerCount: workerIds.length, hosts: hostsOf(stopped) };
}

/** Stores the order and wakes the workers. `null` stands for all workers and supervisors. */
async function storeOrder(
  app: App,
  ids: string[] | null,
  order: StopOrder,
  onFullDisk?: StopTargets['onFullDisk'],
): Promise<void> {
  try {
    await app.store.order(ids, order);
  } catch (error) {
    const isFull = error instanceof QueueError && error.code === 'disk-full';
    // On a server, signals would not reach the workers of other hosts.
    if (!isFull || onFullDisk === undefined || app.store.manyHosts) throw error;
    await onFullDisk();
  }
  app.wakeups.wake();
}

/** Returns the names of the hosts of these workers, each once, in order. */
export const hostsOf = (workers: Worker[]): string[] =>
  [...new Set(workers.map(({ hostname }) => hostname))].sort();

/** Returns ` on host NAME` or ` on hosts A, B`, or nothing if the only host is this one. */
export function onHosts(hosts: string[]): string {
  if (hosts.length === 0 || (hosts.length === 1 && hosts[0] === hostName())) return '';
  return ` on ${hosts.length === 1 ? 'host' : 'hosts'} ${hosts.join(', ')}`;
}

/** Orders the workers and supervisors of a host to stop. Does not wait for a host whose leases are over. */
async function orderHostToStop(
  app: App,
  order: StopOrder,
  { host, onFullDisk }: StopTargets & { host: string },
): Promise<Ordered> {
  const registered = (await app.store.workers()).filter((one) => one.hostname === host);
  const known = await app.store.hosts();
  // Machines that are copies of each other have the same id, but different boots.
  const boots = [...registered.map((one) => one.host), ...known.filter(({ name }) => name === host)];
  if (boots.length === 0) {
    const names = [...new Set(known.map(({ name }) => name))];
    const list = names.length === 0 ? 'no host has had a worker yet' : `known hosts: ${names.join(', ')}`;
    throw new QueueError('worker-not-found', `there is no host '${host}'; ${list}`);
  }
  const supervisors = new Set(registered.map((one) => one.supervisor));
  // A supervisor may have no worker now: it is replacing its only one, or its host was cut off for longer than the lease.
  for (const one of await app.store.supervisors())
    if (boots.some((boot) => isSameBoot(one.host, boot))) supervisors.add(one.id);
  // The workers are read before and after the order: an idle worker may be gone afterwards, and a new one was missing before.
  const ofHost = ({ supervisor }: Worker) => supervisors.has(supervisor);
  const workerIds = new Set((await activeWorkers(app)).filter(ofHost).map((one) => one.id));
  await storeOrder(app, [...registered.map((one) => one.id), ...supervisors], order, onFullDisk);
  for (const one of (await activeWorkers(app)).filter(ofHost)) workerIds.add(one.id);
  const active = new Set((await activeSupervisors(app)).map((one) => one.id));
  const ids = [...workerIds, ...supervisors.intersection(active)];
  const left = (await app.store.supervisors()).filter((one) => supervisors.has(one.id));
  // A supervisor whose workers have stopped is still registered for a moment. Its host has a lease then.
  const withLease = (await app.store.hosts()).filter((one) => one.hasLease);
  const hasLease = ({ host: boot }: RegisteredProcess) => withLease.some((one) => isSameBoot(one, boot));
  const isAway = left.some((one) => !active.has(one.id) && !hasLease(one));
  return { ids, workerCount: workerIds.size, hosts: [host], isAway };
}

/** Orders all registered workers and supervisors to stop. */
async function orderAllToStop(
  app: App,
  order: StopOrder,
  onFullDisk: StopTargets['onFullDisk'],
): Promise<Ordered> {
  // The lists are read before and after the order: an idle worker may be gone afterwards, and a new one was missing before.
  const workers = new Map<string, Worker>();
  const supervisorIds = new Set<string>();
  for (const one of await activeWorkers(app)) workers.set(one.id, one);
  for (const one of await activeSupervisors(app)) supervisorIds.add(one.id);
  await storeOrder(app, null, order, onFullDisk);
  for (const one of await activeWorkers(app)) if (one.order !== null) workers.set(one.id, one);
  for (const one of await activeSupervisors(app)) if (one.order !== null) supervisorIds.add(one.id);
  return {
    ids: [...workers.keys(), ...supervisorIds],
    // A supervisor may be replacing its only worker just now, so there are at least as many workers as supervisors.
    workerCount: Math.max(workers.size, supervisorIds.size),
    hosts: hostsOf([...workers.values()]),
  };
}

async function untilGone(app: App, ids: Set<string>, request: StopRequest): Promise<void> {
  const start = app.clock.monotonic();
  let lastCount = -1;
  let nextLateCheckMs = LATE_CHECK_MS;
  for (;;) {
    const remaining = (await activeWorkers(app)).filter((worker) => ids.has(worker.id));
    const supervisors = (await activeSupervisors(app)).filter((supervisor) => ids.has(supervisor.id));
    if (remaining.length + supervisors.length === 0) return;
    if (remaining.length !== lastCount) request.onWait(remaining);
    lastCount = remaining.length;
    const waitedMs = app.clock.monotonic() - start;
    if (request.timeoutMs !== null && waitedMs > request.timeoutMs)
      throw stopTimeoutError(remaining, supervisors, request, suspendedPids(app, remaining, supervisors));
    if (waitedMs > nextLateCheckMs) {
      nextLateCheckMs = waitedMs + LATE_CHECK_MS;
      request.onLateHosts(await lateHosts(app, ({ id }) => remaining.some((worker) => worker.id === id)));
      const suspended = suspendedPids(app, remaining, supervisors);
      if (suspended.length > 0) request.onSuspended(suspended);
    }
    await pause(POLL_MS);
  }
}

/**
 * Returns the pids of the suspended processes of this host among these workers and supervisors. A worker that was suspended for so
 * long that it is no longer registered is found as a child of its supervisor.
 */
function suspendedPids(app: App, workers: Worker[], supervisors: RegisteredProcess[]): number[] {
  const host = knownHost(app.stateDirectory);
  const pidsOf = (registered: RegisteredProcess[]): number[] =>
    registered.filter((one) => presence(one, host) === 'alive').map(({ pid }) => pid);
  const parents = pidsOf(supervisors);
  const pids = new Set([...pidsOf(workers), ...parents, ...parents.flatMap(processes.childrenOf)]);
  return [...pids].filter(processes.isSuspended);
}

/** Tells which processes are suspended, and how to resume them. */
export function describeSuspended(pids: number[]): string {
  const which = pids.length === 1 ? `process ${pids[0]} is` : `processes ${pids.join(', ')} are`;
  return `${which} suspended and cannot stop; to resume: kill -CONT ${pids.join(' ')}`;
}

function stopTimeoutError(
  remaining: Worker[],
  supervisors: RegisteredProcess[],
  request: StopRequest,
  suspended: number[],
): QueueError {
  const resume = suspended.length === 0 ? null : describeSuspended(suspended);
  if (remaining.length === 0) {
    const pids = supervisors.map(({ pid }) => pid).join(' ');
    const [what, whatNext] =
      supervisors.length === 1
        ? [`supervisor ${pids} is`, 'it exits by itself']
        : [`supervisors ${pids} are`, 'they exit by themselves'];
    return new QueueError('timeout', `no worker is left, but ${what} still running`, resume ?? whatNext);
  }
  const workers = `${countOf(remaining.length, 'worker')}${onHosts(hostsOf(remaining))}`;
  if (request.order !== 'drain')
    return new QueueError(
      'timeout',
      `${workers} ${remaining.length === 1 ? 'has' : 'have'} not stopped yet`,
      resume ?? 'the order stays in effect. To list the workers: queuectl worker list',
    );
  return new QueueError(
    'timeout',
    `${workers} ${remaining.length === 1 ? 'is' : 'are'} still waiting for running jobs`,
    resume ?? `to stop the running jobs too: queuectl worker stop ${targetArguments(request)}--force`,
  );
}

/** Returns the arguments that choose the same workers again, with a space after each. */
function targetArguments({ host, workerIds = [] }: StopTargets): string {
  return host === undefined
    ? workerIds.map((id) => `${shellWord(id)} `).join('')
    : `--host ${shellWord(host)} `;
}

/** A supervisor counts two signals as one if less time passes between them. */
const BETWEEN_SIGNALS_MS = 300;

/** Tells whether the store can be reached. A file always can, but a server may not answer. */
export async function isReachable(location: string): Promise<boolean> {
  if (!isServerUrl(location)) return true;
  try {
    await (await peekStore(location))?.close();
    return true;
  } catch (error) {
    if (error instanceof QueueError && error.code === 'store-unreachable') return false;
    throw error;
  }
}

/**
 * Stops the workers of this user on this machine by signals, because their store cannot be reached. `name` is that of the store, and
 * `command` the internal command of workers. Returns how many workers there were.
 */
export async function stopBySignal(
  name: string,
  order: Exclude<StopOrder, 'leave'>,
  command: string,
): Promise<number> {
  const found = await Promise.all(
    localWorkers(command).map(async ({ location, environment, ...one }) => ({
      ...one,
      name: await locationName(location, environment).catch(() => null),
    })),
  );
  const workers = found.filter((one) => one.name === name);
  const signal = (pids: Iterable<number>): void => {
    for (const pid of pids) orNull(() => process.kill(pid, 'SIGTERM'));
  };
  // Unlike a supervisor, a worker only drains, however many signals it gets.
  signal(workers.map(({ pid }) => pid));
  const supervisors = new Set(workers.flatMap(({ supervisor }) => supervisor ?? []));
  for (let sent = 0; order === 'force' && sent < 2; sent++) {
    if (sent > 0) await pause(BETWEEN_SIGNALS_MS);
    signal(supervisors);
  }
  return workers.length;
}
