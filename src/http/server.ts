import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { type App, checkOpen } from '../actions/app.ts';
import { QueueError } from '../core/errors.ts';
import { createAccess } from './access.ts';
import { createApi } from './api.ts';
import { answerNonsense } from './bare.ts';
import { limitConnections, mostConnections, openFileLimit, type Trust } from './connections.ts';
import { SAFE_HEADERS } from './guard.ts';
import { healing } from './healing.ts';
import { inTurn } from './in-turn.ts';
import { bracketed, isLoopback, type Names, namesOf, plainHost } from './names.ts';
import { createOperations } from './operations.ts';
import type { Serving } from './route.ts';
import { createSharedAnswers } from './shared-answers.ts';
import { createEventStream, type EventStream } from './stream.ts';
import { isTokenExposed, type Role } from './token.ts';

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
  /** Changes per second, on the whole. */
  maxRate: number;
  /** Where a proxy shows it. */
  url: URL | null;
  /** The store that is at its place by now. */
  reopen(): Promise<App>;
  onError(error: unknown, requestId: string): void;
}

export interface Served {
  /** The address, without the token. */
  url: string;
  /** The token in the fragment of the address, which no browser sends anywhere. */
  fragment: string;
  tokenFile: string;
  /** What whoever started it should know. */
  warning: string | null;
  /** Rejects when the store's files were removed: only another process can open it again. */
  failed: Promise<never>;
  close(): Promise<void>;
}

const HEADERS_MS = 10_000;
const REQUEST_MS = 30_000;
const IDLE_MS = 5000;
const FILES_LOOK_MS = 1000;

/** Resolves when it listens. */
export async function startServer(app: App, options: ServeOptions): Promise<Served> {
  const host = plainHost(options.host);
  if (!isLoopback(host) && !options.allowRemote) {
    throw new QueueError(
      'not-permitted',
      `${host} can be reached from other machines, and anyone with the token can run commands on this one`,
      'to allow this, add --allow-remote, and use a proxy with TLS',
    );
  }
  const access = createAccess(app.stateDirectory, options.rotateToken, () => app.clock.monotonic());
  // Known as soon as it listens.
  let names: Names = { hosts: new Set(), origins: new Set() };
  let trust: Trust = () => {};
  const shared = createSharedAnswers(() => app.clock.monotonic());
  // Whoever has been told of something sees it in all that they ask for.
  const newStream = (): EventStream =>
    createEventStream(app, (error) => options.onError(error, 'stream'), shared.forget);
  const serving: Serving = {
    ...{ app, location: options.location, readOnly: options.readOnly, publicMetrics: options.publicMetrics },
    ...{ stream: newStream(), shared, access, operations: createOperations(() => app.clock.now()) },
    check: healing(app, options.reopen, () => {
      serving.stream.close();
      serving.stream = newStream();
      shared.forget();
    }),
  };
  const api = createApi({
    maxRate: options.maxRate,
    names: () => names,
    onTrusted: (...request) => trust(...request),
    onError: options.onError,
    serving,
  });
  const server = createServer({
    ...{ headersTimeout: HEADERS_MS, requestTimeout: REQUEST_MS, keepAliveTimeout: IDLE_MS },
    // The check of the Host is ours, and its answer as safe as any other.
    ...{ maxHeaderSize: 16 * 1024, requireHostHeader: false },
  });
  const answer = getRequestListener(api.fetch, { hostname: host });
  const answered: RequestListener = inTurn((incoming, outgoing) => {
    // Also for what never comes as far as a route.
    for (const name in SAFE_HEADERS) outgoing.setHeader(name, SAFE_HEADERS[name]!);
    void answer(incoming, outgoing);
  });
  // Whatever else a client says that it expects: an answer is what it gets.
  server.on('request', answered).on('checkExpectation', answered);
  answerNonsense(server);
  trust = limitConnections(server, mostConnections(openFileLimit()));
  const port = await listen(server, host, options.port);
  const files = watchFiles(app);
  const role: Role = options.readOnly ? 'read-only' : 'full';
  names = namesOf(host, port, options.url);
  return {
    url: options.url?.href ?? `http://${bracketed(host)}:${port}/`,
    fragment: `#token=${access.tokens[role]}`,
    tokenFile: app.stateDirectory.tokens[role],
    warning: isTokenExposed(app.stateDirectory)
      ? 'other users can read a token of this store. To replace the tokens: queuectl serve --rotate-token'
      : null,
    failed: files.failed,
    async close() {
      files.stop();
      // What they have done by then is remembered.
      await serving.operations.close();
      serving.stream.close();
      access.close();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

/** Looks whether the store's files are still there, also while nobody asks for anything. */
function watchFiles(app: App): { failed: Promise<never>; stop(): void } {
  const { promise: failed, reject } = Promise.withResolvers<never>();
  failed.catch(() => {});
  let timer: NodeJS.Timeout;
  const look = async (): Promise<void> => {
    try {
      await checkOpen(app);
    } catch (error) {
      if (error instanceof QueueError && error.code === 'store-files-removed') reject(error);
    }
    timer = setTimeout(look, FILES_LOOK_MS);
  };
  timer = setTimeout(look, FILES_LOOK_MS);
  return { failed, stop: () => clearTimeout(timer) };
}

function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.on('error', (error: NodeJS.ErrnoException) => reject(listenError(error, host, port)));
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });
}

function listenError(error: NodeJS.ErrnoException, host: string, port: number): unknown {
  const where = `${bracketed(host)}:${port}`;
  if (error.code === 'EADDRINUSE')
    return new QueueError(
      'port-taken',
      `another process is already listening on ${where}`,
      'queuectl serve --port 0',
    );
  if (error.code === 'EACCES' || error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND')
    return new QueueError(
      'port-taken',
      `cannot listen on ${where}: ${error.code}`,
      'queuectl serve --port 0',
    );
  return error;
}
