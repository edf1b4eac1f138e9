import { checkDuration, parseDuration } from '../core/duration.ts';
import type { Input } from './command.ts';

const RANGE = { min: 0, max: 86_400_000 };

/** Reads how long to wait for a server: --store-timeout, else QUEUECTL_STORE_TIMEOUT. One of them is given. */
export function readStoreTimeout(input: Input, environment: NodeJS.ProcessEnv): number {
  const flag = input.one('store-timeout');
  const name = flag === undefined ? 'QUEUECTL_STORE_TIMEOUT' : '--store-timeout';
  const text = flag ?? environment.QUEUECTL_STORE_TIMEOUT!;
  return checkDuration(parseDuration(text, name), name, RANGE, text);
}
