import { expect } from 'bun:test';
import { readAddress } from '../support/http.ts';
import type { Sandbox } from '../support/queuectl.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';

interface Batch {
  id: number;
  events: { number: number; kind: string }[];
  missed: number;
}

/** Starts a server and returns a function that sends requests to its API. */
async function serveApi(
  box: Sandbox,
): Promise<(path: string, headers?: Record<string, string>) => Promise<Response>> {
  const server = box.start(['serve', '--port', '0']);
  const { url, token } = await readAddress(server);
  return (path, headers = {}) =>
    fetch(`${url}api/v1${path}`, { headers: { ...headers, authorization: `Bearer ${token}` } });
}

/** Yields the batches of a stream as they arrive. */
async function* batches(response: Response): AsyncGenerator<Batch> {
  let rest = '';
  for await (const text of response.body!.pipeThrough(new TextDecoderStream())) {
    const parts = (rest + text).split('\n\n');
    rest = parts.pop()!;
    for (const part of parts) {
      const [, id, data] = /^id: (\d+)\nevent: batch\ndata: (.*)$/.exec(part) ?? [];
      if (id !== undefined) yield { id: Number(id), ...JSON.parse(data!) };
    }
  }
}

test('events arrive in batches of at most 200, and a batch counts the events that it leaves out', async (box) => {
  await box.run(['enqueue', 'true']);
  const get = await serveApi(box);
  const stream = await get('/events?every=300');
  const jobs = Array.from({ length: 1000 }, () => ({ command: 'true' }));
  await box.run(['enqueue', '--file', '-'], { stdin: JSON.stringify(jobs) });
  let seen = 0;
  let last = 0;
  let batchCount = 0;
  for await (const { id, events, missed } of batches(stream)) {
    seen += events.length + missed;
    last = id;
    batchCount++;
    expect(events.length).toBeLessThanOrEqual(200);
    if (seen >= 1000) break;
  }
  expect(seen).toBe(1000);
  expect(batchCount).toBeLessThan(100);
  // A client that reconnects gets the newest events and the number of the others.
  const again = await get('/events?every=300', { 'last-event-id': String(last - 700) });
  for await (const batch of batches(again)) {
    expect({ ...batch, events: batch.events.length }).toEqual({ id: last, events: 200, missed: 500 });
    break;
  }
});

test('an invalid interval or stream is refused', async (box) => {
  await box.run(['enqueue', 'true', '--id', 'one']);
  const get = await serveApi(box);
  for (const path of ['/events?every=1', '/events?every=soon', '/jobs/one/output?stream=both']) {
    const response = await get(path);
    expect([path, response.status]).toEqual([path, 400]);
  }
});
