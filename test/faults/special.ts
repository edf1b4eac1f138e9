import { inTempDir } from '../support/temp-dir.ts';
import { buildClock, clockSteps } from './f09-clock.ts';
import { powerCut } from './f13-power-cut.ts';
import { ioErrors } from './f17-io-errors.ts';
import { output } from './f25-output.ts';
import { races } from './f42-races.ts';
import { logDirectory } from './f44-log-directory.ts';
import type { Figures, Scale } from './figures.ts';
import { hasTool } from './syscalls.ts';

/** A fault that needs a tool of its own. */
export interface SpecialFault {
  id: string;
  title: string;
  /** Why this machine cannot do it; null: it can. */
  missing(): string | null | Promise<string | null>;
  run(scale: Scale, seed: number): Promise<Figures>;
}

const strace = (): string | null => (hasTool('strace') ? null : 'no strace');
const linux = (): string | null => (process.platform === 'linux' ? null : 'no /proc');
const clock = async (): Promise<string | null> =>
  (await inTempDir(buildClock)) === null ? 'no C compiler on Linux' : null;
const nothing = (): null => null;

export const SPECIAL_FAULTS: SpecialFault[] = [
  { id: 'F9', title: 'steps of the wall clock', missing: clock, run: clockSteps },
  { id: 'F13', title: 'power cuts at every system call', missing: strace, run: powerCut },
  { id: 'F17', title: 'input/output errors of the disk', missing: strace, run: ioErrors },
  { id: 'F25', title: 'floods of output', missing: linux, run: output },
  { id: 'F42', title: 'races, against a model', missing: nothing, run: races },
  { id: 'F44', title: 'the directory of an attempt meddled with', missing: nothing, run: logDirectory },
];
