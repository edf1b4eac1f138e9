import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { checkAnswer } from './answers.ts';
import { type Running, type Sandbox, until } from './queuectl.ts';

/** A running server and a client for it. */
export interface Site {
  server: Running;
  port: number;
  token: string;
  /** The host of the dashboard's pages. */
  pageHost: string;
  /** Sends a request with the server's token, with another `token`, or without any if that is null. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** Sends exactly these bytes. Returns what the server sends until it closes the connection or `enough` matches. */
  raw(bytes: string, enough?: RegExp): Promise<string>;
  /** Opens an event stream that starts after the event `after`, or with the next event if that is null. */
  events(after?: number | null, bearer?: string): Promise<Stream>;
}

export interface Stream {
  /** The events that have arrived so far. */
  // biome-ignore lint/suspicious/noExplicitAny: whatever the server sends
  seen: { id: number; event: string; data: any }[];
  /** Tells whether the server or close() has ended the stream. */
  isOver: boolean;
  close(): void;
}

export interface CallOptions {
  body?: unknown;
  headers?: Record<string, string>;
  token?: string | null;
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: whatever the server sends
  json: any;
}

/** Returns a port on which no program listens. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Starts the server of a sandbox on a free port. */
export async function serve(box: Sandbox, ...args: string[]): Promise<Site> {
  return connectTo(box.start(['serve', '--port', '0', ...args]));
}

export interface Addresses {
  /** The address for programs. */
  url: string;
  /** The address of the dashboard, without the token. */
  dashboard: string;
  token: string;
}

/** Waits for the addresses that a server prints, and reads the token from its file. */
export async function readAddress(server: Running): Promise<Addresses> {
  const [, url, file, dashboard] = await until(
    () => /^(http\S+)\ntoken file: (.*)\n(?:dashboard: (\S+)\n)?/m.exec(server.stdout()) ?? false,
    'the server prints its URL',
  );
  return { url: url!, dashboard: dashboard ?? url!, token: readFileSync(file!, 'utf8').trim() };
}

/** Waits until a server listens and returns a client for it. */
export async function connectTo(server: Running): Promise<Site> {
  const { url, dashboard, token } = await readAddress(server);
  const { port } = new URL(url);
  const site: Site = {
    server,
    port: Number(port),
    token,
    pageHost: new URL(dashboard).host,
    async call(method, path, { body, headers = {}, token: other } = {}) {
      const bearer = other === null ? {} : { authorization: `Bearer ${other ?? token}` };
      const response = await fetch(`http://127.0.0.1:${port}${path}`, {
        method,
        // A request on a connection that the server is just closing as idle would be lost.
        keepalive: false,
        headers: {
          ...bearer,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      const isJson = text !== '' && /json/.test(response.headers.get('content-type') ?? '');
      const json = isJson ? JSON.parse(text) : null;
      const answer = { status: response.status, headers: response.headers, text, json };
      checkAnswer(method, path, answer);
      return answer;
    },
    async events(after = null, bearer = token) {
      const stop = new AbortController();
      const response = await fetch(`http://127.0.0.1:${port}/api/v1/events`, {
        signal: stop.signal,
        headers: {
          authorization: `Bearer ${bearer}`,
          ...(after === null ? {} : { 'last-event-id': String(after) }),
        },
      });
      const json = response.ok ? null : ((await response.json()) as { code: string });
      checkAnswer('GET', '/api/v1/events', { status: response.status, headers: response.headers, json });
      if (json !== null) throw new Error(`${response.status} ${json.code}`);
      const stream: Stream = { seen: [], isOver: false, close: () => stop.abort() };
      void collect(response.body!, stream.seen)
        .catch(() => {})
        .finally(() => {
          stream.isOver = true;
        });
      return stream;
    },
    raw: (bytes, enough = /$never/) =>
      new Promise((resolve, reject) => {
        let seen = '';
        const socket = connect(Number(port), '127.0.0.1', () => socket.write(bytes));
        socket.setTimeout(40_000, () => socket.destroy());
        socket.on('data', (data) => {
          seen += data.toString('latin1');
          if (enough.test(seen)) socket.destroy();
        });
        socket.on('close', () => resolve(seen));
        socket.on('error', (error) => (seen === '' ? reject(error) : resolve(seen)));
      }),
  };
  return site;
}

async function collect(body: ReadableStream<Uint8Array>, seen: Stream['seen']): Promise<void> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const piece of body) {
    const blocks = (rest + decoder.decode(piece, { stream: true })).split('\n\n');
    rest = blocks.pop()!;
    for (const block of blocks) {
      const match = /^id: (\d+)\nevent: (\S+)\ndata: (.*)$/.exec(block);
      if (match !== null) seen.push({ id: Number(match[1]), event: match[2]!, data: JSON.parse(match[3]!) });
      else if (!/^(retry: \d+|: alive)$/.test(block)) throw new Error(`unexpected block: ${block}`);
    }
  }
}
