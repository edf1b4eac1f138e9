import { maybeRead } from './maybe-read.ts';

/** Some of the fields of /proc/PID/stat, see proc(5). `startTime` is in clock ticks since the boot. */
export interface ProcStat {
  comm: string;
  state: string;
  parent: number;
  group: number;
  session: number;
  flags: number;
  startTime: string;
}

/** Reads /proc/PID/stat. Returns null if there is no such process. */
export function stat(pid: number): ProcStat | null {
  const text = maybeRead(`/proc/${pid}/stat`);
  if (text === null) return null;
  // The name in parentheses may itself contain spaces and parentheses, so fields are counted from its end.
  const end = text.lastIndexOf(')');
  const fields = text.slice(end + 2).split(' ');
  return {
    comm: text.slice(text.indexOf('(') + 1, end),
    state: fields[0]!,
    parent: Number(fields[1]),
    group: Number(fields[2]),
    session: Number(fields[3]),
    flags: Number(fields[6]),
    startTime: fields[19]!,
  };
}

/** Tells whether the process has ended and only waits for its parent to reap it. */
export function isOver({ state }: ProcStat): boolean {
  return state === 'Z' || state === 'X';
}
