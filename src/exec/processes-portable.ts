import { processIdentity, ps } from '../files/process-identity.ts';
import { nameIn } from '../state/cookie.ts';
import type { Found, Processes } from './processes.ts';

/** Uses `ps`, which shows no environments. So the processes of an attempt are those in the group of its frame. */
export const portable: Processes = {
  ...processIdentity,
  ageMs(pid) {
    const started = portable.startTime(pid);
    return started === null ? null : Math.max(0, Date.now() - Date.parse(started));
  },
  carries: (pid) => ps(['-o', 'pgid=', '-p', String(pid)]) === String(pid) && !isZombie(pid),
  find: (attempt) => portable.findAll([attempt]).get(attempt.cookie)!,
  findAll(attempts) {
    const found = new Map<string, Found[]>(attempts.map(({ cookie }) => [cookie, []]));
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
  now: () => 0,
  childOf(pid) {
    const lines = (ps(['-A', '-o', 'pid=,ppid=,stat=']) ?? '')
      .split('\n')
      .map((one) => one.trim().split(/\s+/));
    const child = lines.findLast(([, parent, state]) => Number(parent) === pid && !state?.startsWith('Z'));
    return child === undefined ? null : Number(child[0]);
  },
  // `ps` does not show sessions on every system.
  childInSession: () => null,
  stateOf(pid, parent) {
    const [found, state] = ps(['-o', 'ppid=,stat=', '-p', String(pid)])?.split(/\s+/) ?? [];
    if (state === undefined || state.startsWith('Z') || Number(found) !== (parent ?? Number(found)))
      return 'over';
    if (state.startsWith('T')) return 'stopped';
    return state.startsWith('R') ? 'running' : 'sleeping';
  },
  ranMs: () => null,
  frameOf(cookie) {
    const record = `/attempts/${nameIn(cookie)}/rec `;
    const lines = (ps(['-A', '-ww', '-o', 'pid=,pgid=,stat=,command=']) ?? '').split('\n');
    const frame = lines.find((line) => {
      const [pid, pgid, state] = line.trim().split(/\s+/);
      return pid === pgid && state?.startsWith('Z') === false && line.includes(record);
    });
    return frame === undefined ? null : Number(frame.trim().split(/\s+/)[0]);
  },
  carriers: () => null,
  clock: () => Date.now(),
  lineage: () => [],
  programs: () => null,
  inheritedOpenFiles: () => null,
  ignoresAtStart: () => false,
};

function isZombie(pid: number): boolean {
  return ps(['-o', 'stat=', '-p', String(pid)])?.startsWith('Z') ?? true;
}
