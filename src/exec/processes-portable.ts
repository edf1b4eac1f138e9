import { execFileSync } from 'node:child_process';
import type { Found, Processes } from './processes.ts';

/**
 * Where there is no /proc, `ps` tells start times and groups. Environments are not to be read there, so a process is
 * known by its pid while the group of the frame exists; what left the group is not found.
 */
export const portable: Processes = {
  bootId: () => run('sysctl', ['-n', 'kern.bootsessionuuid']) ?? 'unknown',
  pidNamespace: () => 'none',
  startTime: (pid) => ps(['-o', 'lstart=', '-p', String(pid)]),
  ageMs(pid) {
    const started = ps(['-o', 'lstart=', '-p', String(pid)]);
    return started === null ? null : Math.max(0, Date.now() - Date.parse(started));
  },
  carries: (pid) => ps(['-o', 'pgid=', '-p', String(pid)]) === String(pid) && !isZombie(pid),
  find(_cookie, frame) {
    const found: Found[] = [];
    for (const line of (ps(['-A', '-o', 'pid=,pgid=,stat=']) ?? '').split('\n')) {
      const [pid, pgid, state] = line.trim().split(/\s+/);
      if (Number(pgid) === frame && !state?.startsWith('Z'))
        found.push({ pid: Number(pid), group: frame, stopped: state?.startsWith('T') ?? false });
    }
    return found;
  },
  cookies: () => null,
  inheritedOpenFiles: () => null,
  ignoresAtStart: () => false,
};

function isZombie(pid: number): boolean {
  return ps(['-o', 'stat=', '-p', String(pid)])?.startsWith('Z') ?? true;
}

function ps(args: string[]): string | null {
  return run('ps', args);
}

function run(program: string, args: string[]): string | null {
  try {
    return (
      execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim() || null
    );
  } catch {
    return null;
  }
}
