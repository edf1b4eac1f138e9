import { type EventFilter, lastEventNumber, lastEvents } from '../../actions/events.ts';
import { EVENT_KINDS, type EventKind, toEventObject } from '../../core/rules/events.ts';
import { masked } from '../../core/text/mask.ts';
import { parseNumber } from '../../core/text/numbers.ts';
import { ref } from '../../core/wire/schema.ts';
import { refuse } from '../problem.ts';
import { numberOf, type QueryReader } from '../read-input.ts';
import { get, json, type Route } from '../route.ts';

const EVENT_NUMBER = { min: 0, max: Number.MAX_SAFE_INTEGER, integer: true };
const EVERY_MS = { min: 100, max: 60_000, integer: true };
const LIMIT = { min: 1, max: 1000, integer: true };

export const EVENT_ROUTES: Route[] = [
  get('/api/v1/events', {
    summary: 'Stream events as they happen (server-sent events), optionally resuming after Last-Event-ID',
    query: {
      after: 'resume after this event number, like Last-Event-ID',
      every: 'send events in batches at most this often, in ms, as `batch`: {events, missed}',
    },
    headers: { 'Last-Event-ID': 'the number of the last event received' },
    answers: { 200: { description: 'the stream', schema: null, type: 'text/event-stream' } },
    handle({ serving, grant, one, header, signal }) {
      const text = header('last-event-id') ?? one('after');
      const after = text === undefined ? null : parseNumber(text, 'Last-Event-ID', EVENT_NUMBER);
      const every = numberOf(one, 'every', EVERY_MS, null);
      return serving.stream.open(after, signal, every, grant);
    },
  }),
  get('/api/v1/activity', {
    summary: 'List past events with their actors, newest first',
    query: {
      limit: '1 to 1000 (100)',
      before:
        'only events before this number: the next_before of the previous page. There may be more pages until it is null',
      job: 'only events of the job with this id',
      queue: 'only events of this queue',
      kind: 'one or more kinds, separated by commas',
      actor: 'only events whose actor starts with this text, such as http:',
    },
    answers: { 200: { description: 'a page of events', schema: ref('Activity') } },
    async handle({ app, one }) {
      const limit = numberOf(one, 'limit', LIMIT, 100);
      const last = await lastEventNumber(app);
      const before = numberOf(one, 'before', EVENT_NUMBER, last + 1);
      const to = Math.max(0, Math.min(last, before - 1));
      const { events, next } = await lastEvents(app, limit, to, readFilter(one));
      return json({
        events: events.map((event) => masked(toEventObject(event))),
        next_before: next === 0 ? null : next + 1,
      });
    },
  }),
];

function readFilter(one: QueryReader): EventFilter {
  const kinds = one('kind')?.split(',').map(readKind);
  return { jobId: one('job'), queue: one('queue'), actor: one('actor'), kinds };
}

function readKind(text: string): EventKind {
  const known = EVENT_KINDS.find((kind) => kind === text.trim());
  return (
    known ?? refuse('invalid-value', `unknown event kind '${text}'`, `use one of ${EVENT_KINDS.join(', ')}`)
  );
}
