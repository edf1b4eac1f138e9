import { createServer, type RequestListener, type Server } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { type App, checkOpen, closeApp } from '../actions/app.ts';
import { QueueError } from '../core/errors.ts';
import { createAccessControl, isTokenExposed, type Role } from './access.ts';
import { createApi } from './api.ts';
import {
  answerInvalidRequests,
  limitConnections,
  maxConnections,
  oneRequestAtATime,
  openFileLimit,
} from './connections.ts';
import {
  type HostNames,
  hostNamesOf,
  isLocalhost,
  isLocalName,
  isLoopback,
  newOwnName,
  plainHost,
  withBrackets,
} from './host-names.ts';
import { listenOnAll } from './listen.ts';
import { createOperations } from './operations.ts';
import { SAFE_HEADERS } from './request-checks.ts';
import type { Serving } from './route.ts';
import { createSharedAnswers } from './shared-answers.ts';
import { createEventStreams, type EventStreams } from './stream.ts';

interface ServeOptions {
  /** The location of the store. */
  location: string;
  host: string;
  /** The port to listen on. 0 means any free port. */
  port: number;
  readOnly: boolean;
  allowRemote: boolean;
  publicMetrics: boolean;
  rotateToken: boolean;
  /** Also accepts token files of other users. */
  anyOwner: boolean;
  /** The maximum number of changes per second, over all clients. */
  maxRate: number;
  /** The public address, if a proxy is in front of the server. */
  url: URL | null;
  /** Opens the store that is now at the location. */
  reopen(): Promise<App>;
  onError(error: unknown, requestId: string): void;
}

export type RunningServer = Awaited<ReturnType<typeof startServer>>;

const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
const KEEP_ALIVE_MS = 5000;

/** Starts the HTTP server. Resolves when it listens. */
export async function startServer(app: App, options: ServeOptions) {
  const host = plainHost(options.host);
  checkExposure(host, options);
  const access = createAccessControl(app.stateDirectory, options, () => app.clock.monotonic());
  // The names are set below, when the port is known.
  let names: HostNames = { hosts: new Set(), pages: new Set(), origins: new Set() };
  const connections = limitConnections(maxConnections(openFileLimit()));
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
    onTrusted: connections.markTrusted,
    onError: options.onError,
    serving,
  });
  const answer = getRequestListener(api.fetch, { hostname: host });
  const newServer = (): Server => createHttpServer(answer, connections.watch);
  const { servers, ...listening } = await listenOnAll(newServer, host, options.port);
  const role: Role = options.readOnly ? 'read-only' : 'full';
  const ownName = isLocalhost(host) && options.url === null ? newOwnName() : null;
  names = hostNamesOf(listening, options.url, ownName);
  const url = options.url?.href ?? `http://${withBrackets(host)}:${listening.port}/`;
  return {
    /** The address for programs, without the token. */
    url,
    /** The address of the dashboard, without the token. It is the same unless the dashboard has a name of its own. */
    dashboardUrl: ownName === null ? url : `http://${ownName}:${listening.port}/`,
    /** The part of the dashboard's address after `#`, with the token. Browsers do not send it to the server. */
    fragment: `#token=${access.tokens[role]}`,
    tokenFile: app.stateDirectory.tokens[role],
    /** A warning for the user who started the server. */
    warning: isTokenExposed(app.stateDirectory)
      ? 'other users can read a token of this store. To replace the tokens: queuectl serve --rotate-token'
      : null,
    async close(): Promise<void> {
      // Bulk actions stop first, so that they can still record their end.
      await serving.operations.close();
      serving.stream.close();
      access.close();
      await Promise.all(servers.map(closeServer));
    },
  };
}

/** Throws if the user has to choose the address explicitly, because it is less safe than the default. */
function checkExposure(host: string, { allowRemote, url, port }: ServeOptions): void {
  if (!isLoopback(host) && !allowRemote) {
    throw new QueueError(
      'not-permitted',
      `${host} can be reached from other machines, and anyone with the token can run commands on this one`,
      'to allow this, add --allow-remote, and use a proxy with TLS',
    );
  }
  if (!isLoopback(host) || isLocalhost(host)) return;
  const usable = port || 7780;
  const address = `--port ${usable} --url http://${host}:${usable}/`;
  if (url === null)
    throw new QueueError(
      'not-permitted',
      `browsers have no names for ${host}, so the dashboard cannot have a new name at each start`,
      `use --host 127.0.0.1, or set a fixed address, such as ${address}`,
    );
  if (isLocalName(url.hostname) && !allowRemote)
    throw new QueueError(
      'not-permitted',
      `${url.hostname} does not lead to ${host} alone, so another user could get the token`,
      `use --host 127.0.0.1, or ${address}`,
    );
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

function createHttpServer(answer: RequestListener, watch: (server: Server) => void): Server {
  const server = createServer({
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: 16 * 1024,
    // The API checks the Host header itself and answers with the safe headers.
    requireHostHeader: false,
  });
  const handle = oneRequestAtATime((incoming, outgoing) => {
    // The headers of a response are added to these, and replace those of the same name.
    for (const name in SAFE_HEADERS) outgoing.setHeader(name, SAFE_HEADERS[name]!);
    void answer(incoming, outgoing);
  });
  // A request with an unknown Expect header is answered like any other.
  server.on('request', handle).on('checkExpectation', handle);
  answerInvalidRequests(server);
  watch(server);
  return server;
}

/** A replaced store is closed only after this time, because other requests may still be using it. */
const CLOSE_AFTER_MS = 30_000;

/**
 * Returns a check that throws if the store is unavailable. If another store, such as a copied backup, is now at its location,
 * the check opens that one and calls `onReopened`, because nothing that was cached for the old store is valid.
 */
function createStoreCheck(app: App, reopen: () => Promise<App>, onReopened: () => void): () => Promise<void> {
  let reopening: Promise<void> | null = null;

  const reopenStore = async (): Promise<void> => {
    const old = { store: app.store };
    app.store = (await reopen()).store;
    onReopened();
    setTimeout(() => void closeApp(old).catch(() => {}), CLOSE_AFTER_MS).unref();
  };

  return async () => {
    try {
      await checkOpen(app);
    } catch (error) {
      if (!(error instanceof QueueError) || error.code !== 'store-unavailable') throw error;
      reopening ??= reopenStore().finally(() => {
        reopening = null;
      });
      await reopening;
    }
  };
}
