import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { Found, Processes } from './processes.ts';

/** The kernel counts process times in hundredths of a second on every platform we run on. */
const TICK_MS = 10;

/**
 * One that was listed may have forked and ended before it was looked at: its child is new in the next list. So lists are
 * read until nothing in one is new, or, where others start processes all the time, so often.
 */
const MOST_LOOKS = 30;

export const linux: Processes = {
  bootId: () => readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim(),
  pidNamespace: () => readlinkSync('/proc/self/ns/pid'),
  startTime: (pid) => (isOver(pid) ? null : (stat(pid)?.startTime ?? null)),
  ageMs(pid) {
    const found = stat(pid);
    if (found === null) return null;
    const uptime = Number(readFileSync('/proc/uptime', 'latin1').split(' ')[0]) * 1000;
    return Math.max(0, uptime - Number(found.startTime) * TICK_MS);
  },
  carries: (pid, cookie) => hasCookie(pid, cookie) && !isOver(pid),
  find(cookie, frame) {
    const found: Found[] = [];
    const seen = new Set<number>();
    for (let look = 0; look < MOST_LOOKS; look++) {
      const fresh = allPids().filter((pid) => !seen.has(pid));
      if (fresh.length === 0) break;
      const leads = frame > 0 && hasCookie(frame, cookie);
      for (const pid of fresh) {
        seen.add(pid);
        if (!hasCookie(pid, cookie) && !(frame > 0 && isOfSession(pid, frame, leads, cookie))) continue;
        const about = stat(pid);
        if (about !== null && !isOver(pid) && !isOurs(pid))
          found.push({ pid, group: about.group, stopped: about.state === 'T' });
      }
    }
    return found;
  },
  cookies() {
    const found = allPids().map((pid) => /\0QUEUECTL_RUN=([^\0]*)/.exec(environmentOf(pid))?.[1]);
    return new Set(found.filter((one) => one !== undefined));
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

function allPids(): number[] {
  return readdirSync('/proc').map(Number).filter(Number.isInteger);
}

function hasCookie(pid: number, cookie: string): boolean {
  return environmentOf(pid).includes(`\0QUEUECTL_RUN=${cookie}\0`);
}

/** Each variable between two zero bytes. */
function environmentOf(pid: number): string {
  return `\0${maybeRead(`/proc/${pid}/environ`) ?? ''}`;
}

/**
 * One that cleared its environment, or whose environment we may not read. While the frame leads its session, all of that is
 * the attempt's; when the frame is gone, its number may lead another's session: then the output that it holds tells.
 */
function isOfSession(pid: number, frame: number, leads: boolean, cookie: string): boolean {
  return stat(pid)?.session === frame && (leads || holdsOutput(pid, cookie));
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

function isOver(pid: number): boolean {
  const state = stat(pid)?.state;
  return state === undefined || state === 'Z' || state === 'X';
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
  group: number;
  session: number;
  startTime: string;
}

function stat(pid: number): Stat | null {
  const text = maybeRead(`/proc/${pid}/stat`);
  if (text === null) return null;
  // The name in parentheses may itself hold spaces and parentheses: count from its end.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0]!, group: Number(fields[2]), session: Number(fields[3]), startTime: fields[19]! };
}

function maybeRead(path: string): string | null {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return null;
  }
}
