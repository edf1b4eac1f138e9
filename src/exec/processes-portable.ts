import { processIdentity, ps } from '../files/process-identity.ts';
import { pathInState } from '../state/attempt-files.ts';
import { nameIn } from '../state/key.ts';
import type { FoundProcess, Processes } from './processes.ts';

/** Reads processes with `ps`, for systems without /proc. `ps` shows no cookies, so an attempt's processes are those in its frame's group. */
export const portable: Processes = {
  ...processIdentity,
  ageMs(pid) {
    const started = portable.startTime(pid);
    return started === null ? null : Math.max(0, Date.now() - Date.parse(started));
  },
  carries: (pid) => ps(['-o', 'pgid=', '-p', String(pid)]) === String(pid) && !isZombie(pid),
  find: (attempt) => portable.findAll([attempt]).get(attempt.cookie)!,
  findAll(attempts) {
    const found = new Map<string, FoundProcess[]>(attempts.map(({ cookie }) => [cookie, []]));
    const byFrame = new Map(attempts.map(({ cookie, group }) => [group, cookie]));
    for (const line of (ps(['-A', '-o', 'pid=,pgid=,stat=,lstart=']) ?? '').split('\n')) {
      const [pid, pgid, state, ...lstart] = line.trim().split(/\s+/);
      const cookie = byFrame.get(Number(pgid));
      if (cookie === undefined || state === undefined || state.startsWith('Z')) continue;
      const [stopped, startTime] = [state.startsWith('T'), lstart.join(' ')];
      found.get(cookie)!.push({ pid: Number(pid), group: Number(pgid), stopped, startTime });
    }
    return found;
  },
  earliestStart: () => 0,
  childrenOf: (pid) =>
    (ps(['-A', '-o', 'pid=,ppid=,stat=']) ?? '')
      .split('\n')
      .map((one) => one.trim().split(/\s+/))
      .filter(([, parent, state]) => Number(parent) === pid && !state?.startsWith('Z'))
      .map(([child]) => Number(child)),
  isSuspended: (pid) => ps(['-o', 'stat=', '-p', String(pid)])?.startsWith('T') ?? false,
  frameOf(cookie) {
    const record = pathInState(nameIn(cookie), 'rec ');
    const lines = (ps(['-A', '-ww', '-o', 'pid=,pgid=,stat=,command=']) ?? '').split('\n');
    const frame = lines.find((line) => {
      const [pid, pgid, state] = line.trim().split(/\s+/);
      return pid === pgid && state?.startsWith('Z') === false && line.includes(record);
    });
    return frame === undefined ? null : Number(frame.trim().split(/\s+/)[0]);
  },
  carriers: () => null,
  clock: () => Date.now(),
  inheritedOpenFileLimit: () => null,
  ignoresSignal: () => false,
};

function isZombie(pid: number): boolean {
  return ps(['-o', 'stat=', '-p', String(pid)])?.startsWith('Z') ?? true;
}
