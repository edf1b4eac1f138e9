import { expect, test } from 'bun:test';
import type { App } from '../../src/actions/app.ts';
import { systemClock } from '../../src/core/time/clock.ts';
import { OPEN_GRANT } from '../../src/http/access.ts';
import { createEventStreams } from '../../src/http/stream.ts';
import { jobSpec, NOW } from '../support/jobs.ts';
import { withSqlite } from '../support/sqlite.ts';

test.each([1, 2, 3])('a new server sends the last %d events in a batch', (count) =>
  withSqlite(async (store) => {
    for (const id of ['a', 'b', 'c', 'd']) await store.insert([jobSpec(id)], NOW);
    const app = { store, clock: systemClock, wakeups: { onChange: () => () => {} } } as unknown as App;
    const last = await store.lastEventNumber();
    const client = new AbortController();
    const streams = createEventStreams(
      app,
      () => {},
      () => {},
    );
    try {
      const { body } = await streams.open(last - count, client.signal, 1, OPEN_GRANT);
      let text = '';
      for await (const bytes of body!) {
        text += new TextDecoder().decode(bytes);
        if (text.includes('"missed"')) break;
      }
      const { events, missed } = JSON.parse(/^data: (.*)$/m.exec(text)![1]!);
      expect(events.map(({ number }: { number: number }) => number)).toEqual(
        Array.from({ length: count }, (_, i) => last - count + 1 + i),
      );
      expect(missed).toBe(0);
    } finally {
      streams.close();
    }
  }),
);
