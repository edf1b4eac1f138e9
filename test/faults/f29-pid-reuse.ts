import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants, existsSync, writeFileSync } from 'node:fs';
import { isAlive } from '../support/processes.ts';
import { until } from '../support/queuectl.ts';
import type { Fault } from './fault.ts';
import type { Lab } from './lab.ts';
import { groupOf, QUICK_SETTINGS, untilStarted } from './process-control.ts';
import { roundsInLabs } from './rounds.ts';
import { unsupervisedWorker } from './unsupervised-worker.ts';
import { witnessed } from './witness.ts';

const LAST_PID_FILE = '/proc/sys/kernel/ns_last_pid';
const MAX_STARTS = 100;

/** Gives the pid of the dead job or worker to another process, which must never be signalled. */
export const pidReuse: Fault = {
  id: 'F29',
  title: 'The pid of a dead job or worker is reused by another process',
  small: 4,
  full: 200,
  whySkipped() {
    try {
      accessSync(LAST_PID_FILE, constants.W_OK);
      return process.getuid?.() === 0 ? null : 'setting the last pid needs root';
    } catch {
      return 'no ns_last_pid';
    }
  },
  run: (rounds, seed, program) =>
    roundsInLabs({
      // The rounds run one at a time, because they would take each other's pids.
      ...{ rounds, seed, program, settings: QUICK_SETTINGS, once: new Set<string>(), lanes: 1 },
      open: () => async (lab, round) => {
        for (let i = 0; !(await testReuse(lab, `j${round}-${i}`, round)); i++) {
          if (i === 20) throw new Error('no process ever got the pid');
        }
      },
    }),
};

/** Throws if recovery or `cancel` signals a process with a reused pid. Returns false if no process got the pid. */
async function testReuse(lab: Lab, id: string, round: number): Promise<boolean> {
  await lab.enqueue([{ id, command: witnessed(0.5) }]);
  const worker = unsupervisedWorker(lab, 'after-spawn');
  const { pid } = await untilStarted(lab, id);
  const frame = groupOf(pid);
  await worker.exit;
  process.kill(-frame, 'SIGKILL');
  // Not even a zombie may be left, because it would keep the pid.
  await until(() => !existsSync(`/proc/${frame}`) && !existsSync(`/proc/${pid}`), 'reaped');
  const bystander = await processWithPid(round % 2 === 0 ? frame : worker.pid);
  // Both recovery and a cancel look for processes of the attempt.
  if (round % 4 < 2) await lab.supervisor(['--drain']).exit;
  else await lab.box.json(['cancel', id]);
  if (bystander === null) return false;
  const spared = isAlive(bystander.pid!);
  bystander.kill('SIGKILL');
  if (!spared) throw new Error(`${id}: the bystander process was signalled`);
  return true;
}

/** Starts processes until one gets the pid, because other programs start processes too. Returns null if none gets it. */
async function processWithPid(pid: number): Promise<ChildProcess | null> {
  for (let i = 0; i < MAX_STARTS; i++) {
    writeFileSync(LAST_PID_FILE, String(pid - 1));
    const child = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
    if (child.pid === pid) return child;
    child.kill('SIGKILL');
    await new Promise((done) => setTimeout(done, 2));
  }
  return null;
}
