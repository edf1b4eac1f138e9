import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive } from '../support/processes.ts';
import type { Fault } from './fault.ts';
import { freeze, groupOf, untilGone, untilReady, untilStarted } from './process-control.ts';
import { roundsInLabs } from './rounds.ts';
import { witnessed } from './witness.ts';

const BOOT_ID_FILE = '/proc/sys/kernel/random/boot_id';
const WITH_BOOT_ID = `mount --bind "$0" ${BOOT_ID_FILE} && exec "$@"`;

/** Simulates a restart of the machine. Older claims must be recovered at once, however long the lease. */
export const reboot: Fault = {
  id: 'F30',
  title: 'A reboot (simulated by another boot id), with a lease of one hour',
  small: 2,
  full: 20,
  whySkipped() {
    const tried = spawnSync('unshare', ['-m', 'sh', '-c', WITH_BOOT_ID, '/etc/hostname', 'true']);
    return tried.status === 0 ? null : 'no mount namespaces';
  },
  run: (rounds, seed, program) =>
    roundsInLabs({
      ...{ rounds, seed, program, settings: { lease: '1h' }, once: new Set<string>() },
      open: () => async (lab, round) => {
        const id = `j${round}`;
        await lab.enqueue([{ id, command: witnessed(1) }]);
        const oldSupervisor = lab.supervisor();
        await untilReady(oldSupervisor);
        const { pid } = await untilStarted(lab, id);
        // The old worker stays alive, unlike after a real restart, so that only the boot id voids its claims.
        const [worker] = oldSupervisor.workers();
        freeze(lab, worker!);
        process.kill(oldSupervisor.pid, 'SIGKILL');
        process.kill(-groupOf(pid), 'SIGKILL');
        await untilGone([pid]);
        const file = join(lab.box.directory, `boot${round}`);
        writeFileSync(file, `${randomUUID()}\n`);
        const through = ['unshare', '-m', 'sh', '-c', WITH_BOOT_ID, file];
        const code = await lab.box.start(['worker', 'start', '--drain'], { through }).exit;
        if (isAlive(worker!)) process.kill(worker!, 'SIGKILL');
        if (code !== 0) throw new Error(`the start after the restart exited with ${code}`);
      },
    }),
};
