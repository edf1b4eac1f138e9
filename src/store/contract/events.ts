import type { NewEvent, StoreEvent } from '../../core/rules/events.ts';
import type { EventRetention } from '../../core/rules/retention.ts';

/**
 * Keeps the log of changes to jobs, queues, schedules, settings and workers. Each change is in it once, as soon as the change
 * is committed. Heartbeats, stop orders and wished signals are not logged.
 *
 * An event has a higher number than every event whose change was committed before its own change began. The events of one job
 * are in the order of its changes. Changes that happen at the same time may be in either order. In a store that makes one
 * change at a time, events are in the order of the commits.
 */
export interface EventStore {
  /** Returns at most `limit` events with numbers above `after`, in the order of their numbers. The numbers have no gap, and an event never appears below one that was read. */
  events(after: number, limit: number): Promise<StoreEvent[]>;
  /**
   * Returns at most `limit` events of one job, newest first. Reads all events with numbers above `after` and up to `to`. Jobs
   * that were enqueued together share one stored event, which has the number of the last job's event.
   */
  eventsOfJob(id: string, after: number, to: number, limit: number): Promise<StoreEvent[]>;
  /** Returns the number of the last event, or 0 if there was none. It never falls, whatever is removed. */
  lastEventNumber(): Promise<number>;
  /** Returns the number of the last event before this time. If the clock was set back, it may be too low. */
  lastEventNumberBefore(at: number): Promise<number>;
  /** Adds an event that belongs to no job, and changes nothing else. */
  note(event: NewEvent): Promise<void>;
  /** Removes a batch of the oldest events that `keep` does not retain. Returns how many were removed. */
  pruneEvents(keep: EventRetention, now: number): Promise<number>;
  /** Returns how many events `pruneEvents` would remove in total. */
  prunableEvents(keep: EventRetention, now: number): Promise<number>;
}
