import { expect } from 'bun:test';
import { join } from 'node:path';
import { openDatabase } from '../support/database.ts';
import { serve } from '../support/http.ts';
import { enqueue } from '../support/queuectl.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';

test('the kind of an event cannot forge other events of the stream', async (box) => {
  await enqueue(box, 'first', 'true');
  await enqueue(box, 'second', 'true');
  const kind = 'completed\ndata: {}\n\nid: 99\nevent: completed';
  const db = openDatabase(join(box.home, 'queue.db'));
  const { changes } = db.prepare('UPDATE log SET kind = ? WHERE seq = 1').run(kind);
  db.close();
  expect(changes).toBe(1);
  const site = await serve(box);
  const request = `GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1:${site.port}\r\nAuthorization: Bearer ${site.token}\r\nLast-Event-ID: 0\r\n\r\n`;
  const stream = await site.raw(request, /event: enqueued\ndata: .*\n\n/);
  expect(stream.match(/^(id|event): .*$/gm)).toEqual(['id: 1', 'event: unknown', 'id: 2', 'event: enqueued']);
  expect(stream).toContain(`"kind":${JSON.stringify(kind)}`);
});
