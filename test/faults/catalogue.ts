import { killStorm } from './f01-kill-storm.ts';
import { crashPoints } from './f02-crash-points.ts';
import { killedAfterExit, killedAfterSpawn } from './f03-spawn.ts';
import { supervisorKilled } from './f05-supervisor.ts';
import { manyStarts } from './f06-many-starts.ts';
import { frozenBeforeSettlement, frozenBeforeStart, frozenWorker } from './f07-frozen-worker.ts';
import { frozenJob } from './f08-frozen-job.ts';
import type { Fault } from './fault.ts';

/** Every fault that is tested, in the order of its number. */
export const FAULTS: Fault[] = [
  killStorm,
  crashPoints,
  killedAfterSpawn,
  killedAfterExit,
  supervisorKilled,
  manyStarts,
  frozenWorker,
  frozenBeforeStart,
  frozenBeforeSettlement,
  frozenJob,
];
