import type { CareStore } from './contract/care.ts';
import type { ClaimStore } from './contract/claims.ts';
import type { EventStore } from './contract/events.ts';
import type { FigureStore } from './contract/figures.ts';
import type { JobActionStore } from './contract/job-actions.ts';
import type { JobStore } from './contract/jobs.ts';
import type { QueueStore } from './contract/queues.ts';
import type { RetentionStore } from './contract/retention.ts';
import type { ScheduleStore } from './contract/schedules.ts';
import type { SharedOutput } from './contract/shared-output.ts';
import type { WorkerStore } from './contract/workers.ts';

/**
 * The contract of a store, in ten parts and an optional one. Comments state what the methods promise, and the conformance suite tests that.
 * Every write is durable when its promise resolves, and happens as a whole or not at all. Once a newer queuectl has changed
 * the schema, every write is refused (`newer-schema`). The folder parts/ implements all parts but the optional one.
 */
export interface Store
  extends JobStore,
    JobActionStore,
    ClaimStore,
    WorkerStore,
    QueueStore,
    ScheduleStore,
    EventStore,
    FigureStore,
    RetentionStore,
    CareStore {
  /** Is missing in a store that one host uses. */
  readonly sharedOutput?: SharedOutput;
}
