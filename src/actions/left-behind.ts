import { look } from '../exec/kill.ts';
import { placeOf } from '../state/place.ts';
import type { Attempt } from '../store/contract/jobs.ts';
import type { App } from './app.ts';

/** No group has it: what is looked for is known by its cookie. */
const ANY_GROUP = -1;

/**
 * With what of a success still runs. Its worker notes what stayed in the command's group, which costs it one system call; what
 * left the group takes a look at every process of the machine, so it is looked for when somebody asks.
 */
export function withLeftBehind(app: App, attempts: Attempt[]): Attempt[] {
  return attempts.map((attempt) => {
    if (attempt.why !== 'exited' || attempt.exitCode !== 0) return attempt;
    const { cookie } = placeOf(app.stateDirectory, app.store.epoch, attempt.number);
    const running = look({ group: ANY_GROUP, cookie }).map((one) => one.pid);
    return { ...attempt, leftBehind: [...new Set([...attempt.leftBehind, ...running])] };
  });
}
