import { expect, test } from 'bun:test';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { startCuttingProxy } from '../support/cutting-proxy.ts';
import { until } from '../support/queuectl.ts';

const TRANSACTION = 'BEGIN ISOLATION LEVEL READ COMMITTED\0COMMIT\0';

/** Starts a server that gets a COMMIT and does not answer, and a client that has sent the COMMIT through a proxy. */
async function sendCommit() {
  const accepted: Socket[] = [];
  let received = '';
  const server = createServer((socket) => {
    accepted.push(socket);
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      received += bytes;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy = await startCuttingProxy(`postgres://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  let cuts = 0;
  proxy.cutNext('drop-answer', { whenCut: () => void cuts++ });
  const client = connect(Number(new URL(proxy.url).port), '127.0.0.1');
  client.on('error', () => {});
  client.write(TRANSACTION);
  await until(() => received === TRANSACTION, 'the server gets the COMMIT');
  const close = (): void => {
    proxy.close();
    client.destroy();
    server.close();
  };
  return { client, upstream: accepted[0]!, cuts: () => cuts, close };
}

type Sent = Awaited<ReturnType<typeof sendCommit>>;

test.each<[string, (sent: Sent) => void]>([
  ['the server answers', ({ upstream }) => void upstream.write('answer')],
  ['the client is killed before the answer', ({ client }) => void client.resetAndDestroy()],
  ['the server ends the connection before the answer', ({ upstream }) => void upstream.destroy()],
])('the answer to a COMMIT is lost once when %s', async (_, act) => {
  const sent = await sendCommit();
  try {
    expect(sent.cuts()).toBe(0);
    act(sent);
    await until(() => sent.client.closed, 'the connection of the client ends');
    await until(() => sent.upstream.closed, 'the connection to the server ends');
    expect(sent.cuts()).toBe(1);
  } finally {
    sent.close();
  }
});
