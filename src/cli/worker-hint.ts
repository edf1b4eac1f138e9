import { standstill } from '../actions/standstill.ts';
import type { Context } from './command.ts';

const LOOK_MS = 5000;

/** Runs work that waits for jobs of these queues. Warns when and why they do not start. */
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
  // A failed hint must not end the work that it accompanies.
  const timer = setInterval(() => void look().catch(() => {}), LOOK_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
