import type { NewEvent, StoreEvent } from '../../core/events.ts';
import type { EventRetention } from '../../core/retention.ts';

/**
 * Keeps the log of changes. Every change by a verb of the contract is in it once, as soon as the change is committed.
 * Heartbeats and stop orders are not logged.
 */
export interface EventStore {
  /** Returns at most `limit` events after event `after`, in the order of the commits, numbered without a gap. */
  events(after: number, limit: number): Promise<StoreEvent[]>;
  /**
   * Returns at most `limit` events of one job, newest first, among the events after `after` up to `to`. It reads each of those
   * events. Jobs that were enqueued together count by the number of the last of them.
   */
  eventsOfJob(id: string, after: number, to: number, limit: number): Promise<StoreEvent[]>;
  /** Returns the number of the last event, or 0 if there was none. It never falls, whatever is removed. */
  lastEvent(): Promise<number>;
  /** Returns the number of the last event before this time. If a clock was set back, it is the number of one of them. */
  lastEventBefore(at: number): Promise<number>;
  /** Adds an event that belongs to no job, and changes nothing else. */
  note(event: NewEvent): Promise<void>;
  /** Removes a batch of the oldest events that `keep` does not retain. Returns how many. */
  pruneEvents(keep: EventRetention, now: number): Promise<number>;
  /** Returns how many events `pruneEvents` would remove in total. */
  prunableEvents(keep: EventRetention, now: number): Promise<number>;
}
