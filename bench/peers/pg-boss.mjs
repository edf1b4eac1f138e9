import { PgBoss } from 'pg-boss';

/** Jobs are fetched in batches, and the next batch follows at once. The default fetches one job every two seconds. */
const BATCH = 64;

export async function open(connectionString, { slots }) {
  const boss = new PgBoss({ connectionString, supervise: false, schedule: false });
  await boss.start();
  await boss.createQueue('bench');
  return {
    add: (jobs) => boss.insert('bench', Array(jobs).fill({})),
    work: (run) =>
      boss.work(
        'bench',
        { batchSize: BATCH, burstWhenBatchFull: true, pollingIntervalSeconds: 0.5 },
        async (batch) => {
          let left = batch.length;
          const slot = async () => {
            while (left-- > 0) await run();
          };
          await Promise.all(Array.from({ length: slots }, slot));
        },
      ),
  };
}
