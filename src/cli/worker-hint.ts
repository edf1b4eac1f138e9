import { activeWorkers } from '../actions/workers.ts';
import type { Context } from './command.ts';

const LOOK_MS = 5000;

/** While the work waits for jobs of these queues: says when nobody is there to run them, now or later. */
export async function whileWatchingWorkers<T>(
  context: Context,
  queues: string[],
  work: () => Promise<T>,
): Promise<T> {
  const wanted = [...new Set(queues)];
  let said = '';
  const look = async (): Promise<void> => {
    const problem = await missingWorker(context, wanted);
    if (problem !== said && problem !== '') context.io.warn(`${problem}; queuectl worker start`);
    said = problem;
  };
  await look();
  // A hint must not end the work it accompanies.
  const timer = setInterval(() => void look().catch(() => {}), LOOK_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

async function missingWorker({ app }: Context, queues: string[]): Promise<string> {
  const workers = await activeWorkers(await app());
  if (workers.length === 0) return 'no worker is running';
  const unserved = queues.filter(
    (queue) => !workers.some((worker) => worker.queues === null || worker.queues.includes(queue)),
  );
  return unserved.length === 0 ? '' : `no worker serves queue ${unserved.join(', ')}`;
}
