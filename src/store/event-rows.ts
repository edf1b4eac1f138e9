import type { EventDetail, EventKind, StoreEvent } from '../core/rules/events.ts';
import type { Row } from './row.ts';

export function toEvent(row: Row): StoreEvent {
  // The name of a deleted queue is kept among the details.
  const { queue = null, ...detail } = detailOf(row.detail);
  return {
    number: row.number as number,
    at: row.at as number,
    kind: row.kind as EventKind,
    actor: row.actor as string | null,
    jobId: row.id as string | null,
    queue: (row.queue as string | null) ?? (queue as string | null),
    attempt: row.attempt as number | null,
    detail,
  };
}

/** Returns no details if they cannot be parsed, so that one bad row does not hide all others. */
function detailOf(text: Row[string] | undefined): EventDetail {
  try {
    const read: unknown = JSON.parse((text as string | null) ?? '{}');
    return typeof read === 'object' && read !== null ? (read as EventDetail) : {};
  } catch {
    return {};
  }
}
