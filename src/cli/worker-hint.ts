import { standstill } from '../actions/standstill.ts';
import type { Context } from './command.ts';

const LOOK_MS = 5000;

/** While the work waits for jobs of these queues: says when they do not start, now or later, and why. */
export async function whileWatchingWorkers<T>(
  context: Context,
  queues: string[],
  work: () => Promise<T>,
): Promise<T> {
  const wanted = [...new Set(queues)];
  let said: string[] = [];
  const look = async (): Promise<void> => {
    const problems = await standstill(await context.app(), wanted);
    for (const problem of problems) if (!said.includes(problem)) context.io.warn(problem);
    said = problems;
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
