import { invalidValue } from '../../core/errors.ts';
import { type NumberRange, parseNumber } from '../../core/text/numbers.ts';
import { checkDuration, exactDuration, parseDuration } from '../../core/time/duration.ts';
import type { Input } from './command.ts';

/** Reads the duration that a flag takes. Returns null without the flag. */
export function durationFlag(input: Input, flag: string): number | null {
  const text = input.one(flag);
  return text === undefined ? null : parseDuration(text, `--${flag}`);
}

/** Reads the number that a flag takes. Returns null without the flag. */
export function numberFlag(input: Input, flag: string, range: NumberRange): number | null {
  const text = input.one(flag);
  return text === undefined ? null : parseNumber(text, `--${flag}`, range);
}

/** Reads the time between two updates of a screen: at least 100 ms and at most `maxMs`. Returns null without the flag. */
export function intervalFlag(input: Input, flag: string, maxMs: number): number | null {
  const ms = durationFlag(input, flag);
  if (ms !== null && (ms < 100 || ms > maxMs))
    throw invalidValue(`--${flag} must be between 100ms and ${exactDuration(maxMs)}`);
  return ms;
}

const RANGE = { min: 0, max: 86_400_000 };

/** Reads how long to wait for a server: --store-timeout, else QUEUECTL_STORE_TIMEOUT. One of them is given. */
export function readStoreTimeout(input: Input, environment: NodeJS.ProcessEnv): number {
  const flag = input.one('store-timeout');
  const name = flag === undefined ? 'QUEUECTL_STORE_TIMEOUT' : '--store-timeout';
  const text = flag ?? environment.QUEUECTL_STORE_TIMEOUT!;
  return checkDuration(parseDuration(text, name), name, RANGE, text);
}
