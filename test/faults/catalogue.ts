import { killStorm } from './f01-kill-storm.ts';
import { crashPoints } from './f02-crash-points.ts';
import { killedAfterExit, killedAfterSpawn } from './f03-killed-worker.ts';
import { supervisorKilled } from './f05-supervisor.ts';
import { manyStarts } from './f06-many-starts.ts';
import {
  frozenBeforeSettlement,
  frozenBeforeStart,
  frozenForTooLong,
  frozenWorker,
} from './f07-frozen-worker.ts';
import { frozenJob } from './f08-frozen-job.ts';
import { clockSteps } from './f09-clock.ts';
import { busyStorm } from './f11-busy.ts';
import { longReader } from './f12-long-reader.ts';
import { powerCut } from './f13-power-cut.ts';
import { ioErrors } from './f17-io-errors.ts';
import { diskFull } from './f18-disk-full.ts';
import { noRoom } from './f19-no-room.ts';
import { storeAway } from './f20-store-away.ts';
import { corruption } from './f21-corruption.ts';
import { replacedFile } from './f22-replaced-file.ts';
import { openFilesExhausted, processesExhausted } from './f23-exhausted.ts';
import { floods } from './f25-large-output.ts';
import { killedWhilePrinting } from './f26-killed-while-printing.ts';
import { stubbornJobs } from './f27-stubborn-jobs.ts';
import { leftovers } from './f28-leftovers.ts';
import { pidReuse } from './f29-pid-reuse.ts';
import { reboot } from './f30-reboot.ts';
import { stopSignals } from './f31-signals.ts';
import { blockedLoop, unexpectedError } from './f32-broken-worker.ts';
import { killedEnqueue } from './f34-killed-enqueue.ts';
import { killedMigration, manyMigrations } from './f35-migrations.ts';
import { manyHostsStorm } from './f38-many-hosts.ts';
import { postgresStorm } from './f38-postgres-storm.ts';
import { postgresRestarts } from './f39-postgres-restarts.ts';
import { partitions } from './f40-partitions.ts';
import { pooler } from './f41-pgbouncer.ts';
import { races } from './f42-races.ts';
import { tamperedDirectory } from './f44-tampered-directory.ts';
import { namespaces } from './f47-namespaces.ts';
import { stoppedAdopters } from './f48-stopped-adopters.ts';
import { stopOfEverything, stopOfEverythingAtMostOnce } from './f49-signal-everything.ts';
import { stopMeetsStart } from './f50-stop-meets-start.ts';
import { endedBeforeCancel, endedBeforeForce, endedBeforeTimeout } from './f51-ended-by-itself.ts';
import type { Fault } from './fault.ts';

/** Lists every tested fault, ordered by its number. */
export const FAULTS: Fault[] = [
  killStorm,
  crashPoints,
  killedAfterSpawn,
  killedAfterExit,
  supervisorKilled,
  manyStarts,
  frozenWorker,
  frozenBeforeStart,
  frozenForTooLong,
  frozenBeforeSettlement,
  frozenJob,
  clockSteps,
  busyStorm,
  longReader,
  powerCut,
  ioErrors,
  diskFull,
  noRoom,
  storeAway,
  corruption,
  replacedFile,
  openFilesExhausted,
  processesExhausted,
  floods,
  killedWhilePrinting,
  stubbornJobs,
  leftovers,
  pidReuse,
  reboot,
  stopSignals,
  unexpectedError,
  blockedLoop,
  killedEnqueue,
  manyMigrations,
  killedMigration,
  postgresStorm,
  manyHostsStorm,
  postgresRestarts,
  partitions,
  pooler,
  races,
  tamperedDirectory,
  namespaces,
  stoppedAdopters,
  stopOfEverything,
  stopOfEverythingAtMostOnce,
  stopMeetsStart,
  endedBeforeTimeout,
  endedBeforeForce,
  endedBeforeCancel,
];
