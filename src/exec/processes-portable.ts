import { processIdentity, ps } from '../files/process-identity.ts';
import { nameIn } from '../state/cookie.ts';
import { pathsInState } from '../state/place.ts';
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
  newestChildOf(pid) {
    const lines = (ps(['-A', '-o', 'pid=,ppid=,stat=']) ?? '')
      .split('\n')
      .map((one) => one.trim().split(/\s+/));
    const child = lines.findLast(([, parent, state]) => Number(parent) === pid && !state?.startsWith('Z'));
    return child === undefined ? null : Number(child[0]);
  },
  // `ps` does not show sessions on every system.
  newestChildInSession: () => null,
  stateOf(pid, parent) {
    const [ppid, state] = ps(['-o', 'ppid=,stat=', '-p', String(pid)])?.split(/\s+/) ?? [];
    if (state === undefined || state.startsWith('Z') || Number(ppid) !== (parent ?? Number(ppid)))
      return 'over';
    if (state.startsWith('T')) return 'stopped';
    return state.startsWith('R') ? 'running' : 'sleeping';
  },
  cpuMs: () => null,
  frameOf(cookie) {
    const records = pathsInState(nameIn(cookie), 'rec ');
    const lines = (ps(['-A', '-ww', '-o', 'pid=,pgid=,stat=,command=']) ?? '').split('\n');
    const frame = lines.find((line) => {
      const [pid, pgid, state] = line.trim().split(/\s+/);
      return pid === pgid && state?.startsWith('Z') === false && records.some((one) => line.includes(one));
    });
    return frame === undefined ? null : Number(frame.trim().split(/\s+/)[0]);
  },
  carriers: () => null,
  clock: () => Date.now(),
  lineage: () => [],
  queuectlProcesses: () => null,
  inheritedOpenFileLimit: () => null,
  ignoresSignal: () => false,
};

function isZombie(pid: number): boolean {
  return ps(['-o', 'stat=', '-p', String(pid)])?.startsWith('Z') ?? true;
}
