import type { Server } from 'node:http';
import { hostname, networkInterfaces } from 'node:os';
import { serve } from '@hono/node-server';
import type { App } from '../actions/app.ts';
import { QueueError } from '../core/errors.ts';
import { createApi } from './api.ts';
import { createOperations } from './operations.ts';
import { createSharedAnswers } from './shared-answers.ts';
import { createEventStream } from './stream.ts';
import { readToken } from './token.ts';

export interface ServeOptions {
  /** Of the store. */
  location: string;
  host: string;
  /** 0: any that is free. */
  port: number;
  readOnly: boolean;
  allowRemote: boolean;
  publicMetrics: boolean;
  rotateToken: boolean;
  /** Where a proxy shows it. */
  url: URL | null;
  onError(error: unknown, requestId: string): void;
}

export interface Served {
  /** With the token in the fragment, which no browser sends anywhere. */
  url: string;
  close(): Promise<void>;
}

const LOOPBACK = ['127.0.0.1', 'localhost', '::1'];
const HEADERS_MS = 10_000;
const REQUEST_MS = 30_000;
const IDLE_MS = 5000;

/** Resolves when it listens. */
export async function startServer(app: App, options: ServeOptions): Promise<Served> {
  const { host } = options;
  if (!LOOPBACK.includes(host) && !options.allowRemote) {
    throw new QueueError(
      'not-permitted',
      `${host} can be reached from other machines, and whoever has the token can run commands here`,
      'add --allow-remote if that is meant, behind a proxy with TLS',
    );
  }
  const token = readToken(app.stateDirectory, options.rotateToken);
  const names = new Set<string>();
  const shared = createSharedAnswers(() => app.clock.monotonic());
  // Whoever has been told of something sees it in all that they ask for.
  const stream = createEventStream(app, (error) => options.onError(error, 'stream'), shared.forget);
  const api = createApi({
    token,
    names,
    shownAt: options.url?.origin ?? null,
    onError: options.onError,
    serving: {
      app,
      location: options.location,
      ...{ readOnly: options.readOnly, publicMetrics: options.publicMetrics, stream, shared },
      operations: createOperations(() => app.clock.now()),
    },
  });
  const { server, port } = await listen(api.fetch, options);
  for (const name of namesOf(host)) names.add(`${name}:${port}`);
  if (port === 80) for (const name of namesOf(host)) names.add(name);
  // A proxy sends its own name on, or ours.
  if (options.url !== null) names.add(options.url.host);
  return {
    url: `${options.url?.href ?? `http://${bracketed(host)}:${port}/`}#token=${token}`,
    close: () =>
      new Promise((resolve) => {
        stream.close();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

type Fetch = Parameters<typeof serve>[0]['fetch'];

function listen(fetch: Fetch, { host, port }: ServeOptions): Promise<{ server: Server; port: number }> {
  return new Promise((resolve, reject) => {
    const server = serve(
      {
        fetch,
        hostname: host,
        port,
        serverOptions: {
          headersTimeout: HEADERS_MS,
          requestTimeout: REQUEST_MS,
          keepAliveTimeout: IDLE_MS,
          maxHeaderSize: 16 * 1024,
        },
      },
      (info) => resolve({ server, port: info.port }),
    ) as Server;
    server.on('error', (error: NodeJS.ErrnoException) => reject(listenError(error, host, port)));
  });
}

function listenError(error: NodeJS.ErrnoException, host: string, port: number): unknown {
  const where = `${bracketed(host)}:${port}`;
  if (error.code === 'EADDRINUSE')
    return new QueueError('port-taken', `something listens on ${where} already`, 'queuectl serve --port 0');
  if (error.code === 'EACCES' || error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND')
    return new QueueError(
      'port-taken',
      `cannot listen on ${where}: ${error.code}`,
      'queuectl serve --port 0',
    );
  return error;
}

/** What a browser may rightly call this server. */
function namesOf(host: string): string[] {
  const local = [...LOOPBACK, host].map((name) => bracketed(name.toLowerCase()));
  if (LOOPBACK.includes(host)) return local;
  const addresses = Object.values(networkInterfaces()).flatMap((all) =>
    (all ?? []).map((one) => bracketed(one.address)),
  );
  return [...local, hostname().toLowerCase(), ...addresses];
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
