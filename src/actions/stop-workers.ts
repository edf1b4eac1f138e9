import { pause } from '../core/clock.ts';
import { QueueError } from '../core/errors.ts';
import { shellWord } from '../core/shell-quote.ts';
import type { StopOrder } from '../core/stop-order.ts';
import { countOf } from '../core/words.ts';
import { currentStopMark, untilClockAfter } from '../exec/stop-mark.ts';
import { hostName } from '../files/host-name.ts';
import { isSameBoot } from '../state/host.ts';
import type { RegisteredProcess, Worker } from '../store/contract/workers.ts';
import type { App } from './app.ts';
import { type HostHeartbeat, hostHeartbeats, lateHosts } from './host-heartbeats.ts';
import { activeSupervisors, activeWorkers } from './workers.ts';

const POLL_MS = 50;
/** The time between two looks for hosts that do not answer. */
const LATE_CHECK_MS = 1000;

/** Which workers to stop. By default, all workers and supervisors of all hosts. */
export interface StopTargets {
  /** The ids of the workers. */
  workerIds?: string[];
  /** The name of a host. All its workers and supervisors are stopped. */
  host?: string;
}

export interface StopRequest extends StopTargets {
  order: StopOrder;
  /** How long to wait, or null for no limit. The order stays in effect after the timeout. */
  timeoutMs: number | null;
  /** Is called with the workers that are left, at the start and whenever their number changes. */
  onWait(remaining: Worker[]): void;
  /** Is called, while workers are left, with those of their hosts that do not answer. */
  onLateHosts(hosts: HostHeartbeat[]): void;
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
export interface LeftJobs {
  count: number;
  /** The names of the hosts. */
  hosts: string[];
  /** When the first of these jobs is stopped, unless a worker of its host starts before. */
  guardedUntil: number;
}

/** Returns the running jobs that these workers have left on hosts without another worker. Returns null if there are none. */
export async function jobsLeftToGuards(app: App, workerIds: string[]): Promise<LeftJobs | null> {
  const active = new Set((await activeWorkers(app)).map(({ id }) => id));
  const jobsOf = ({ id, currentJobs }: Worker): string[] => (workerIds.includes(id) ? currentJobs : []);
  const hosts = (await hostHeartbeats(app, (worker) => jobsOf(worker).length > 0)).filter(
    ({ workers }) => !workers.some(({ id }) => active.has(id)),
  );
  if (hosts.length === 0) return null;
  return {
    count: hosts.flatMap(({ workers }) => workers.flatMap(jobsOf)).length,
    hosts: hosts.map(({ name }) => name).sort(),
    guardedUntil: Math.min(...hosts.map((host) => host.guardedUntil)),
  };
}

/** Orders workers to stop and does not wait. Workers that are stopped by their ids are not replaced. */
export async function orderStop(
  app: App,
  order: StopOrder,
  { workerIds, host }: StopTargets,
): Promise<Ordered> {
  if (host !== undefined) return orderHostToStop(app, order, host);
  if (workerIds === undefined) return orderAllToStop(app, order);
  const workers = await activeWorkers(app);
  const unknownId = workerIds.find((id) => !workers.some((one) => one.id === id));
  if (unknownId !== undefined) throw new QueueError('worker-not-found', `there is no worker '${unknownId}'`);
  await app.store.order(workerIds, order);
  app.signals.wake();
  const stopped = workers.filter((one) => workerIds.includes(one.id));
  return { ids: workerIds, workerCount: workerIds.length, hosts: hostsOf(stopped) };
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
async function orderHostToStop(app: App, order: StopOrder, host: string): Promise<Ordered> {
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
  await app.store.order([...registered.map((one) => one.id), ...supervisors], order);
  app.signals.wake();
  // This is read after the order, so that it has the workers that registered meanwhile.
  const workers = (await activeWorkers(app)).filter((one) => supervisors.has(one.supervisor));
  const active = new Set((await activeSupervisors(app)).map((one) => one.id));
  const ids = [...workers.map((one) => one.id), ...supervisors.intersection(active)];
  const left = (await app.store.supervisors()).filter((one) => supervisors.has(one.id));
  // A supervisor whose workers have stopped is still registered for a moment. Its host has a lease then.
  const withLease = (await app.store.hosts()).filter((one) => one.hasLease);
  const hasLease = ({ host: boot }: RegisteredProcess) => withLease.some((one) => isSameBoot(one, boot));
  const isAway = left.some((one) => !active.has(one.id) && !hasLease(one));
  return { ids, workerCount: workers.length, hosts: [host], isAway };
}

/** Orders all workers and supervisors to stop, even supervisors of this machine that are starting and not registered yet. */
async function orderAllToStop(app: App, order: StopOrder): Promise<Ordered> {
  // The lists are read before and after the order: an idle worker may be gone afterwards, and a new one was missing before.
  const workers = new Map<string, Worker>();
  const supervisorIds = new Set<string>();
  for (const one of await activeWorkers(app)) workers.set(one.id, one);
  for (const one of await activeSupervisors(app)) supervisorIds.add(one.id);
  const stopMark = currentStopMark();
  await app.store.orderAll(order, stopMark);
  app.signals.wake();
  for (const one of await activeWorkers(app)) if (one.order !== null) workers.set(one.id, one);
  for (const one of await activeSupervisors(app)) if (one.order !== null) supervisorIds.add(one.id);
  // A worker that a script starts after this command must not be mistaken for one that was starting before.
  await untilClockAfter(stopMark.at);
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
      throw stopTimeoutError(remaining, supervisors, request);
    if (waitedMs > nextLateCheckMs) {
      nextLateCheckMs = waitedMs + LATE_CHECK_MS;
      request.onLateHosts(await lateHosts(app, ({ id }) => remaining.some((worker) => worker.id === id)));
    }
    await pause(POLL_MS);
  }
}

function stopTimeoutError(
  remaining: Worker[],
  supervisors: RegisteredProcess[],
  request: StopRequest,
): QueueError {
  if (remaining.length === 0) {
    const pids = supervisors.map(({ pid }) => pid).join(' ');
    const [what, whatNext] =
      supervisors.length === 1
        ? [`supervisor ${pids} is`, 'it exits by itself, unless it is suspended. To resume it']
        : [`supervisors ${pids} are`, 'they exit by themselves, unless they are suspended. To resume them'];
    return new QueueError(
      'timeout',
      `no worker is left, but ${what} still running`,
      `${whatNext}: kill -CONT ${pids}`,
    );
  }
  const workers = `${countOf(remaining.length, 'worker')}${onHosts(hostsOf(remaining))}`;
  if (request.order !== 'drain')
    return new QueueError(
      'timeout',
      `${workers} ${remaining.length === 1 ? 'has' : 'have'} not stopped yet`,
      'the order stays in effect. To list the workers: queuectl worker list',
    );
  return new QueueError(
    'timeout',
    `${workers} ${remaining.length === 1 ? 'is' : 'are'} still waiting for running jobs`,
    `to stop the running jobs too: queuectl worker stop ${targetArguments(request)}--force`,
  );
}

/** Returns the arguments that choose the same workers again, with a space after each. */
function targetArguments({ host, workerIds = [] }: StopTargets): string {
  return host === undefined ? workerIds.map((id) => `${id} `).join('') : `--host ${shellWord(host)} `;
}
