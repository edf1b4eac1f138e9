import { Database } from 'bun:sqlite';
import { bun, defineQueue, defineWorker } from 'plainjob';

/** One worker of plainjob runs one job at a time, so there is one worker for each slot. */
export function open(location, { slots }) {
  const connection = bun(new Database(location, { strict: true }));
  const logger = { error() {}, warn() {}, info() {}, debug() {} };
  const queue = defineQueue({ connection, logger });
  return {
    add: (jobs) => queue.addMany('true', Array(jobs).fill({})),
    work(run) {
      for (let i = 0; i < slots; i++) defineWorker('true', run, { queue, logger }).start();
    },
  };
}
