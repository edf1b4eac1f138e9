import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { type App, checkOpen } from '../actions/app.ts';
import { QueueError } from '../core/errors.ts';
import { createAccessControl } from './access.ts';
import { createApi } from './api.ts';
import { limitConnections, type MarkTrusted, maxConnections, openFileLimit } from './connections.ts';
import { SAFE_HEADERS } from './guard.ts';
import { type HostNames, hostNamesOf, isLoopback, plainHost, withBrackets } from './host-names.ts';
import { oneRequestAtATime } from './one-request-at-a-time.ts';
import { createOperations } from './operations.ts';
import { answerInvalidRequests } from './raw-answer.ts';
import { createStoreCheck } from './reopen-store.ts';
import type { Serving } from './route.ts';
import { createSharedAnswers } from './shared-answers.ts';
import { createEventStreams, type EventStreams } from './stream.ts';
import { isTokenExposed, type Role } from './token.ts';

export interface ServeOptions {
  /** The location of the store. */
  location: string;
  host: string;
  /** The port to listen on. 0 means any free port. */
  port: number;
  readOnly: boolean;
  allowRemote: boolean;
  publicMetrics: boolean;
  rotateToken: boolean;
  /** The maximum number of changes per second, over all clients. */
  maxRate: number;
  /** The public address, if a proxy is in front of the server. */
  url: URL | null;
  /** Opens the store that is now at the location. */
  reopen(): Promise<App>;
  onError(error: unknown, requestId: string): void;
}

export interface RunningServer {
  /** The address, without the token. */
  url: string;
  /** The part of the address after `#`, with the token. Browsers do not send it to the server. */
  fragment: string;
  tokenFile: string;
  /** A warning for the user who started the server. */
  warning: string | null;
  /** Rejects if files of the store were removed, because only a new process can open the store again. */
  failed: Promise<never>;
  close(): Promise<void>;
}

const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
const KEEP_ALIVE_MS = 5000;
const FILE_CHECK_MS = 1000;

/** Starts the HTTP server. Resolves when it listens. */
export async function startServer(app: App, options: ServeOptions): Promise<RunningServer> {
  const host = plainHost(options.host);
  if (!isLoopback(host) && !options.allowRemote) {
    throw new QueueError(
      'not-permitted',
      `${host} can be reached from other machines, and anyone with the token can run commands on this one`,
      'to allow this, add --allow-remote, and use a proxy with TLS',
    );
  }
  const access = createAccessControl(app.stateDirectory, options.rotateToken, () => app.clock.monotonic());
  // The names are set below, when the port is known.
  let names: HostNames = { hosts: new Set(), origins: new Set() };
  let markTrusted: MarkTrusted = () => {};
  const shared = createSharedAnswers(() => app.clock.monotonic());
  // The shared answers are dropped first, so that a client that got an event reads no older answer.
  const newStreams = (): EventStreams =>
    createEventStreams(app, (error) => options.onError(error, 'stream'), shared.forget);
  const serving: Serving = {
    app,
    location: options.location,
    readOnly: options.readOnly,
    publicMetrics: options.publicMetrics,
    stream: newStreams(),
    shared,
    access,
    operations: createOperations(() => app.clock.now()),
    check: createStoreCheck(app, options.reopen, () => {
      serving.stream.close();
      serving.stream = newStreams();
      shared.forget();
    }),
  };
  const api = createApi({
    maxRate: options.maxRate,
    names: () => names,
    onTrusted: (...request) => markTrusted(...request),
    onError: options.onError,
    serving,
  });
  const server = createHttpServer(getRequestListener(api.fetch, { hostname: host }));
  markTrusted = limitConnections(server, maxConnections(openFileLimit()));
  const port = await listen(server, host, options.port);
  const fileWatch = watchFiles(app);
  const role: Role = options.readOnly ? 'read-only' : 'full';
  names = hostNamesOf(host, port, options.url);
  return {
    url: options.url?.href ?? `http://${withBrackets(host)}:${port}/`,
    fragment: `#token=${access.tokens[role]}`,
    tokenFile: app.stateDirectory.tokens[role],
    warning: isTokenExposed(app.stateDirectory)
      ? 'other users can read a token of this store. To replace the tokens: queuectl serve --rotate-token'
      : null,
    failed: fileWatch.failed,
    async close() {
      fileWatch.stop();
      // Bulk actions stop first, so that they can still record their end.
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

function createHttpServer(answer: RequestListener): Server {
  const server = createServer({
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: 16 * 1024,
    // The API checks the Host header itself and answers with the safe headers.
    requireHostHeader: false,
  });
  const handle = oneRequestAtATime((incoming, outgoing) => {
    // The safe headers are set here, too, for requests that fail before they reach a route.
    for (const name in SAFE_HEADERS) outgoing.setHeader(name, SAFE_HEADERS[name]!);
    void answer(incoming, outgoing);
  });
  // A request with an unknown Expect header is answered like any other.
  server.on('request', handle).on('checkExpectation', handle);
  answerInvalidRequests(server);
  return server;
}

/** Checks regularly whether the store's files still exist. `failed` rejects if they were removed. */
function watchFiles(app: App): { failed: Promise<never>; stop(): void } {
  const { promise: failed, reject } = Promise.withResolvers<never>();
  failed.catch(() => {});
  let timer: NodeJS.Timeout;
  const check = async (): Promise<void> => {
    try {
      await checkOpen(app);
    } catch (error) {
      if (error instanceof QueueError && error.code === 'store-files-removed') reject(error);
    }
    timer = setTimeout(check, FILE_CHECK_MS);
  };
  timer = setTimeout(check, FILE_CHECK_MS);
  return { failed, stop: () => clearTimeout(timer) };
}

function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.on('error', (error: NodeJS.ErrnoException) => reject(listenError(error, host, port)));
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });
}

function listenError(error: NodeJS.ErrnoException, host: string, port: number): unknown {
  const where = `${withBrackets(host)}:${port}`;
  const hint = 'to use a free port: queuectl serve --port 0';
  if (error.code === 'EADDRINUSE')
    return new QueueError('port-taken', `another process is already listening on ${where}`, hint);
  if (error.code === 'EACCES' || error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND')
    return new QueueError('port-taken', `cannot listen on ${where}: ${error.code}`, hint);
  return error;
}
