import { until } from '../support/queuectl.ts';
import { below } from '../support/random.ts';
import type { Fault } from './fault.ts';
import { QUICK_SETTINGS, untilStarted } from './process-control.ts';
import { roundsInLabs } from './rounds.ts';

const BLOCKS = 20;

/** Returns a command that prints numbered lines in blocks, with pauses. A missing or repeated line is visible. */
const printCommand = (linesPerBlock: number): string =>
  `. ./witness.sh; say S -; b=0; n=0; while [ $b -lt ${BLOCKS} ]; do i=0
   while [ $i -lt ${linesPerBlock} ]; do echo "line $n"; i=$((i+1)); n=$((n+1)); done
   sleep 0.02; b=$((b+1)); done; say E 0`;

/** Kills the worker of a job that prints. Nothing is lost, because the command writes to the file by itself. */
export const killedWhilePrinting: Fault = {
  id: 'F26',
  title: 'A worker is killed while its job writes output',
  small: 8,
  full: 100,
  run: (rounds, seed, program) =>
    roundsInLabs({
      ...{ rounds, seed, program, settings: QUICK_SETTINGS },
      open(lab) {
        const supervisor = lab.supervisor();
        return async (_, round) => {
          const id = `j${round}`;
          const linesPerBlock = 1 + below(lab.random, 200);
          await lab.enqueue([{ id, command: printCommand(linesPerBlock), max_retries: 1 }]);
          await untilStarted(lab, id);
          await new Promise((done) => setTimeout(done, below(lab.random, 300)));
          const [pid] = await until(() => {
            const workers = supervisor.workers();
            return workers.length > 0 && workers;
          }, 'a worker');
          process.kill(pid!, 'SIGKILL');
          await lab.waitForJobs();
          const { stdout } = await lab.box.run(['logs', id]);
          const wanted = Array.from({ length: linesPerBlock * BLOCKS }, (_, i) => `line ${i}\n`).join('');
          if (stdout !== wanted) throw new Error(`${id}: ${stdout.length} bytes of ${wanted.length}`);
        };
      },
    }),
};
