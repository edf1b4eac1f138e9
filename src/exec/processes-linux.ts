import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { uptime } from 'node:os';
import type { Found, Processes, Wanted } from './processes.ts';

/** The kernel counts process times in hundredths of a second on every platform we run on. */
const TICK_MS = 10;

/**
 * One that was listed may have forked and ended before it was looked at: its child is new in the next list. So lists are
 * read until nothing in one is new, or, where others start processes all the time, so often.
 */
const MOST_LOOKS = 30;

/** The kernel's fixed number for it (PROC_TIME_INIT_INO). */
const FIRST_TIME_NAMESPACE = 'time:[4026531834]';

export const linux: Processes = {
  bootId: () => readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim(),
  // Start times are shown as the reader's time namespace counts them, so two of those cannot compare theirs.
  pidNamespace: () => [readlinkSync('/proc/self/ns/pid'), ...ownTimeNamespace()].join(' '),
  showsOwnPids() {
    try {
      return readlinkSync('/proc/self') === String(process.pid);
    } catch {
      return false;
    }
  },
  startTime(pid) {
    const about = stat(pid);
    return about === null || isOver(about) ? null : about.startTime;
  },
  ageMs(pid) {
    const found = stat(pid);
    if (found === null) return null;
    const uptime = Number(readFileSync('/proc/uptime', 'latin1').split(' ')[0]) * 1000;
    return Math.max(0, uptime - Number(found.startTime) * TICK_MS);
  },
  carries: (pid, cookie) => hasCookie(pid, cookie) && linux.startTime(pid) !== null,
  find: (cookie, frame) => findAll([{ cookie, group: frame }]).get(cookie) ?? [],
  findAll,
  // The system rounds to whole seconds, up or down.
  now: () => (Math.floor(uptime()) - 2) * (1000 / TICK_MS),
  childOf: (pid) => childrenOf(pid).find((child) => linux.childState(child, pid) !== 'over') ?? null,
  childState(pid, parent) {
    const about = stat(pid);
    if (about === null || about.parent !== parent || isOver(about)) return 'over';
    return about.state === 'T' || about.state === 't' ? 'stopped' : 'running';
  },
  cookies() {
    return new Set(allPids().flatMap((pid) => cookieOf(pid) ?? []));
  },
  inheritedOpenFiles() {
    // The runtime has raised our own by now; the parent's is what the user set.
    const limits = maybeRead(`/proc/${process.ppid}/limits`);
    return /^Max open files +(\S+)/m.exec(limits ?? '')?.[1] ?? null;
  },
  ignoresAtStart(signal) {
    const mask = /^SigIgn:\s*([0-9a-f]+)/m.exec(maybeRead('/proc/self/status') ?? '')?.[1] ?? '0';
    return ((BigInt(`0x${mask}`) >> BigInt(signal - 1)) & 1n) === 1n;
  },
};

function findAll(attempts: readonly Wanted[]): Map<string, Found[]> {
  const found = new Map<string, Found[]>(attempts.map(({ cookie }) => [cookie, []]));
  const byFrame = new Map(attempts.filter(({ group }) => group > 0).map((one) => [one.group, one]));
  const since = Math.min(...attempts.map((one) => one.since ?? 0));
  const seen = new Set<number>();
  for (let look = 0; look < MOST_LOOKS; look++) {
    const fresh = allPids().filter((pid) => !seen.has(pid));
    if (fresh.length === 0) break;
    const leads = new Map<Wanted, boolean>();
    for (const pid of fresh) {
      seen.add(pid);
      const about = stat(pid);
      // A process that is older than every frame belongs to none of them.
      if (about === null || isOver(about) || Number(about.startTime) < since) continue;
      const cookie = cookieOf(pid) ?? '';
      const own = found.get(cookie) ?? ofSession(pid, byFrame.get(about.session), leads, found);
      if (own !== undefined && !isOurs(pid))
        own.push({ pid, group: about.group, startTime: about.startTime, stopped: about.state === 'T' });
    }
  }
  return found;
}

/** Nothing for the first time namespace of the machine, so that the identity of most workers has no such part. */
function ownTimeNamespace(): string[] {
  try {
    const name = readlinkSync('/proc/self/ns/time');
    return name === FIRST_TIME_NAMESPACE ? [] : [name];
  } catch {
    // A kernel without time namespaces.
    return [];
  }
}

function allPids(): number[] {
  return readdirSync('/proc').map(Number).filter(Number.isInteger);
}

function hasCookie(pid: number, cookie: string): boolean {
  return cookieOf(pid) === cookie;
}

function cookieOf(pid: number): string | undefined {
  return /\0QUEUECTL_RUN=([^\0]*)\0/.exec(environmentOf(pid))?.[1];
}

/** Each variable between two zero bytes. */
function environmentOf(pid: number): string {
  return `\0${maybeRead(`/proc/${pid}/environ`) ?? ''}`;
}

/**
 * For a process that cleared its environment, or whose environment we may not read. While the frame leads its session, every
 * process of the session is the attempt's. When the frame is gone, its pid may lead another session: then the output file
 * that the process holds decides.
 */
function ofSession(
  pid: number,
  attempt: Wanted | undefined,
  leads: Map<Wanted, boolean>,
  found: Map<string, Found[]>,
): Found[] | undefined {
  if (attempt === undefined) return undefined;
  const { cookie, group } = attempt;
  const leading = leads.get(attempt) ?? hasCookie(group, cookie);
  leads.set(attempt, leading);
  return leading || holdsOutput(pid, cookie) ? found.get(cookie) : undefined;
}

function holdsOutput(pid: number, cookie: string): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) =>
      readlinkSync(`/proc/${pid}/fd/${fd}`).includes(`/attempts/${cookie}/`),
    );
  } catch {
    return false;
  }
}

/** A list of the kernel's; where it is built without, all processes are asked for their parent. */
function childrenOf(pid: number): number[] {
  const listed = maybeRead(`/proc/${pid}/task/${pid}/children`);
  if (listed !== null) return listed.split(' ').filter(Boolean).map(Number);
  return allPids().filter((one) => stat(one)?.parent === pid);
}

function isOver({ state }: Stat): boolean {
  return state === 'Z' || state === 'X';
}

/** A `worker start` inside a job carries the job's cookie too, and is none of the job's processes. */
function isOurs(pid: number): boolean {
  if (pid === process.pid) return true;
  try {
    if (readlinkSync(`/proc/${pid}/exe`) !== readlinkSync('/proc/self/exe')) return false;
  } catch {
    return false;
  }
  const script = process.argv[1] ?? '';
  return (
    script.startsWith('/$bunfs/') || (maybeRead(`/proc/${pid}/cmdline`) ?? '').split('\0').includes(script)
  );
}

interface Stat {
  state: string;
  parent: number;
  group: number;
  session: number;
  startTime: string;
}

function stat(pid: number): Stat | null {
  const text = maybeRead(`/proc/${pid}/stat`);
  if (text === null) return null;
  // The name in parentheses may itself hold spaces and parentheses: count from its end.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return {
    ...{ state: fields[0]!, parent: Number(fields[1]), group: Number(fields[2]), session: Number(fields[3]) },
    startTime: fields[19]!,
  };
}

function maybeRead(path: string): string | null {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return null;
  }
}
