import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { uptime } from 'node:os';
import { maybeRead } from '../files/maybe-read.ts';
import { isOver, type ProcStat, stat } from '../files/proc-stat.ts';
import { processIdentity } from '../files/process-identity.ts';
import { cookieMatches, nameIn } from '../state/cookie.ts';
import { runsThisExecutable } from './executable.ts';
import { recordIn } from './frame.ts';
import { NAME } from './name.ts';
import type { Ancestor, Found, Processes, Programs, Target } from './processes.ts';

/** The kernel counts process times in hundredths of a second on every platform we run on. */
const TICK_MS = 10;

/** The process list is read until it has no new process, because a listed one may have forked. This is the maximum. */
const MAX_READS = 30;

/** The flag of a process that was forked and has not executed a program since (PF_FORKNOEXEC in the kernel). */
const FORKED_WITHOUT_EXEC = 0x40;
/** At most this many processes are listed, newest first. Programs that are just starting are among them. */
const MAX_PROGRAMS = 1000;

export const linux: Processes = {
  ...processIdentity,
  ageMs(pid) {
    const found = stat(pid);
    if (found === null) return null;
    return Math.max(0, linux.clock() - bornAt(found));
  },
  carries: (pid, cookie) => hasCookie(pid, cookie) && linux.startTime(pid) !== null,
  find: (attempt) => findAll([attempt]).get(attempt.cookie)!,
  findAll,
  // The system may round the uptime to whole seconds, up or down.
  now: () => (Math.floor(uptime()) - 2) * (1000 / TICK_MS),
  childOf: (pid) => childrenOf(pid).findLast((child) => linux.stateOf(child, pid) !== 'over') ?? null,
  childInSession(pid) {
    const session = stat(pid)?.session;
    const isOne = (child: number): boolean =>
      linux.stateOf(child, pid) !== 'over' && stat(child)?.session === session;
    return childrenOf(pid).findLast(isOne) ?? null;
  },
  stateOf(pid, parent) {
    const about = stat(pid);
    if (about === null || isOver(about) || (parent ?? about.parent) !== about.parent) return 'over';
    if (isStopped(about)) return 'stopped';
    return about.state === 'R' ? 'running' : 'sleeping';
  },
  ranMs(pid) {
    const text = maybeRead(`/proc/${pid}/schedstat`);
    return text === null ? null : Number(text.split(' ')[0]) / 1e6;
  },
  frameOf(cookie) {
    const record = `/attempts/${nameIn(cookie)}/rec`;
    const isFrame = (pid: number): boolean => {
      // The cookie is checked first, because few processes have one.
      const about = hasCookie(pid, cookie) ? stat(pid) : null;
      if (about === null || about.session !== pid || isOver(about)) return false;
      // A process that the command started in a session of its own is not the frame.
      const args = (maybeRead(`/proc/${pid}/cmdline`) ?? '').split('\0');
      return recordIn(args)?.endsWith(record) === true;
    };
    return allPids().find(isFrame) ?? null;
  },
  carriers() {
    return allPids().flatMap((pid) => {
      const cookie = cookieOf(pid);
      return cookie === undefined ? [] : { cookie, own: isOwn(pid) };
    });
  },
  clock: () => Math.round(Number(readFileSync('/proc/uptime', 'latin1').split(' ')[0]) * 1000),
  lineage() {
    const found: Ancestor[] = [];
    for (let pid = process.pid; pid > 0; ) {
      const about = stat(pid);
      if (about === null) break;
      found.push({ name: `${pid}:${about.startTime}`, born: bornAt(about) });
      pid = about.parent;
    }
    return found;
  },
  programs,
  inheritedOpenFiles() {
    // The runtime has raised the limit of this process by now. The parent still has the limit that the user set.
    const limits = maybeRead(`/proc/${process.ppid}/limits`);
    return /^Max open files +(\S+)/m.exec(limits ?? '')?.[1] ?? null;
  },
  ignoresAtStart(signal) {
    const mask = /^SigIgn:\s*([0-9a-f]+)/m.exec(maybeRead('/proc/self/status') ?? '')?.[1] ?? '0';
    return ((BigInt(`0x${mask}`) >> BigInt(signal - 1)) & 1n) === 1n;
  },
};

function findAll(attempts: readonly Target[]): Map<string, Found[]> {
  const found = new Map<string, Found[]>(attempts.map(({ cookie }) => [cookie, []]));
  const byName = new Map(attempts.map((one) => [nameIn(one.cookie), one]));
  const byFrame = new Map(attempts.filter(({ group }) => group > 0).map((one) => [one.group, one]));
  const since = Math.min(...attempts.map((one) => one.since ?? 0));
  const seen = new Set<number>();
  for (let look = 0; look < MAX_READS; look++) {
    const fresh = allPids().filter((pid) => !seen.has(pid));
    if (fresh.length === 0) break;
    const leads = new Map<Target, boolean>();
    for (const pid of fresh) {
      seen.add(pid);
      const about = stat(pid);
      // A process that is older than every frame belongs to none of them.
      if (about === null || isOver(about) || Number(about.startTime) < since) continue;
      // A process that ends its own job does not end itself.
      if (pid === process.pid) continue;
      const carried = cookieOf(pid) ?? '';
      const named = byName.get(nameIn(carried));
      const attempt =
        named !== undefined && cookieMatches(carried, named.cookie, () => isOwn(pid))
          ? named
          : ofSession(pid, byFrame.get(about.session), leads);
      if (attempt !== undefined)
        found
          .get(attempt.cookie)!
          .push({ pid, group: about.group, startTime: about.startTime, stopped: about.state === 'T' });
    }
  }
  return found;
}

function programs(since: number): Programs | null {
  if (!linux.showsOwnPids()) return null;
  const found: { name: string; born: number; runs: boolean }[] = [];
  for (const pid of allPids()) {
    // The flag is read first. Once `exec` has cleared it, the link leads to the new executable.
    const about = stat(pid);
    if (about === null || isOver(about)) continue;
    const born = bornAt(about);
    const isFork = (about.flags & FORKED_WITHOUT_EXEC) !== 0 && born >= since;
    const runs = about.comm === NAME || runsThisExecutable(pid) === true;
    // A stopped fork does nothing until it is continued, however long that takes.
    if (runs || isFork)
      found.push({ name: `${pid}:${about.startTime}`, born, runs: runs || isStopped(about) });
  }
  found.sort((a, b) => b.born - a.born);
  const names = (runs: boolean): string[] =>
    found
      .filter((one) => one.runs === runs)
      .slice(0, MAX_PROGRAMS)
      .map((one) => one.name);
  return { running: names(true), forked: names(false) };
}

function allPids(): number[] {
  return readdirSync('/proc').map(Number).filter(Number.isInteger);
}

function hasCookie(pid: number, cookie: string): boolean {
  const carried = cookieOf(pid);
  return carried !== undefined && cookieMatches(carried, cookie, () => isOwn(pid));
}

function cookieOf(pid: number): string | undefined {
  // With this zero byte, every variable is between two zero bytes.
  const environment = `\0${maybeRead(`/proc/${pid}/environ`) ?? ''}`;
  return /\0QUEUECTL_RUN=([^\0]*)\0/.exec(environment)?.[1];
}

/**
 * Returns the attempt in whose session a process is. The process has cleared its environment, or we may not read it. While the
 * frame leads its session, all processes of the session belong to the attempt. When the frame is gone, its pid may lead
 * another session. Then the process belongs to the attempt only if it has the output file open.
 */
function ofSession(
  pid: number,
  attempt: Target | undefined,
  leads: Map<Target, boolean>,
): Target | undefined {
  if (attempt === undefined) return undefined;
  const { cookie, group } = attempt;
  const leading = leads.get(attempt) ?? hasCookie(group, cookie);
  leads.set(attempt, leading);
  return leading || holdsOutput(pid, cookie) ? attempt : undefined;
}

/** Tells whether a process has a file of the attempt open. Only this user can read such files, so nobody can forge them. */
function holdsOutput(pid: number, cookie: string): boolean {
  const directory = `/attempts/${nameIn(cookie)}/`;
  try {
    return readdirSync(`/proc/${pid}/fd`)
      .map((fd) => `/proc/${pid}/fd/${fd}`)
      .some((file) => readlinkSync(file).includes(directory) && isPrivate(file));
  } catch {
    return false;
  }
}

function isPrivate(file: string): boolean {
  const { uid, mode } = statSync(file);
  return uid === process.getuid?.() && (mode & 0o077) === 0;
}

/** Tells whether all user ids of a process are those of this user. That is not so for setuid programs of other users. */
function isOwn(pid: number): boolean {
  const ids = /^Uid:\s*(.*)$/m.exec(maybeRead(`/proc/${pid}/status`) ?? '')?.[1]?.split(/\s+/) ?? [];
  return ids.length > 0 && ids.every((id) => Number(id) === process.getuid?.());
}

/** Reads the list of children from the kernel, or the parent of every process if the kernel has no such list. */
function childrenOf(pid: number): number[] {
  const listed = maybeRead(`/proc/${pid}/task/${pid}/children`);
  if (listed !== null) return listed.split(' ').filter(Boolean).map(Number);
  return allPids().filter((one) => stat(one)?.parent === pid);
}

function isStopped({ state }: ProcStat): boolean {
  return state === 'T' || state === 't';
}

/** Returns when a process was created, in milliseconds on the clock that all processes of this boot share. */
function bornAt({ startTime }: ProcStat): number {
  return Number(startTime) * TICK_MS;
}
