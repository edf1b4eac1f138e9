import { canFakeBoots, newBoot } from '../support/other-boot.ts';
import { isAlive } from '../support/processes.ts';
import type { Fault } from './fault.ts';
import { freeze, groupOf, untilGone, untilReady, untilStarted } from './process-control.ts';
import { roundsInLabs } from './rounds.ts';
import { witnessed } from './witness.ts';

/** Simulates a restart of the machine. Older claims must be recovered at once, however long the lease. */
export const reboot: Fault = {
  id: 'F30',
  title: 'A reboot (simulated by another boot id), with a lease of one hour',
  small: 2,
  full: 20,
  whySkipped: () => (canFakeBoots() ? null : 'no mount namespaces'),
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
        const through = newBoot(lab.box.directory);
        const code = await lab.box.start(['worker', 'start', '--drain'], { through }).exit;
        if (isAlive(worker!)) process.kill(worker!, 'SIGKILL');
        if (code !== 0) throw new Error(`the start after the restart exited with ${code}`);
      },
    }),
};
