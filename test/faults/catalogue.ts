import { killStorm } from './f01-kill-storm.ts';
import type { Fault } from './fault.ts';

/** Every fault that is tested, in the order of its number. */
export const FAULTS: Fault[] = [killStorm];
