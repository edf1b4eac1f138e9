import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { actingAs } from '../actions/app.ts';
import { ERRORS, type ErrorCode, QueueError } from '../core/errors.ts';
import { type DenialReason, type Grant, OPEN_GRANT, type Role } from './access.ts';
import { dashboardFile, missingPage, wantsPage } from './assets.ts';
import type { HostNames } from './host-names.ts';
import { problemResponse, refuse, withoutDetails } from './problem.ts';
import { readBody } from './read-input.ts';
import {
  bearerOf,
  checkHost,
  checkOrigin,
  checkRequestTarget,
  checkTransferEncoding,
  SAFE_HEADERS,
  tokenBucket,
} from './request-checks.ts';
import type { ApiRequest, Route, Serving } from './route.ts';
import { ROUTES } from './routes.ts';
import { REPEATABLE } from './schemas.ts';

const WRONG_TOKENS_PER_SECOND = 5;
/** A burst may contain the wrong tokens and the changes that are allowed in these times. */
const WRONG_TOKENS_BURST_MS = 4000;
const CHANGES_BURST_MS = 10_000;

/** The connection is closed after these errors, because the rest of the request was not read, or its end is unknown. */
const CLOSING_ERRORS = new Set<ErrorCode>(['too-large', 'too-slow', 'unknown-coding']);

export interface ApiOptions {
  serving: Serving;
  /** The maximum number of changes per second, over all clients. Each job of an array counts. */
  maxRate: number;
  /** Returns every name that this server answers to. */
  names(): HostNames;
  /** Is called for every request with a valid token or session, before it is answered. */
  onTrusted(incoming: IncomingMessage, outgoing: ServerResponse, role: Role): void;
  /** Is called with errors whose details are hidden from the client. */
  onError(error: unknown, requestId: string): void;
}

type Env = { Bindings: HttpBindings; Variables: { requestId: string } };

/** The options, and the limits of wrong tokens and changes, for the checks that come before every route. */
interface ApiServer extends ApiOptions {
  /** Counts a wrong token. Returns the seconds to wait, or 0. A request with a valid token is never limited by it. */
  countWrongToken(): number;
  /** Counts changes. Returns the seconds to wait, or 0. */
  countChanges(changes: number): number;
}

/** Returns a web-standard handler for the table of routes. The same checks come before every route. */
export function createApi(options: ApiOptions): Hono<Env> {
  const clock = (): number => performance.now();
  const server: ApiServer = {
    ...options,
    countWrongToken: tokenBucket(clock, WRONG_TOKENS_PER_SECOND, WRONG_TOKENS_BURST_MS),
    countChanges: tokenBucket(clock, options.maxRate, CHANGES_BURST_MS),
  };
  const api = new Hono<Env>();
  api.use('*', async (c, next) => {
    checkRequest(server, c);
    await next();
    // An answer whose headers were read gets a content-length. Others would be sent in chunks.
    for (const [name, value] of Object.entries(SAFE_HEADERS))
      if (!c.res.headers.has(name)) c.res.headers.set(name, value);
  });
  for (const [path, routes] of Map.groupBy(ROUTES, (route) => route.path))
    api.all(path.replaceAll(/\{(\w+)\}/g, ':$1'), (c) => answer(server, routes, c));
  api.get('/*', (c) => {
    const { pathname } = new URL(c.req.url);
    const file = dashboardFile(pathname, c.req.header('accept-encoding'));
    if (file === null && !wantsPage(pathname, c.req.header('accept'))) refuseUnknownPath(server, c);
    checkHost(c.req.header('host'), server.names().pages, 'the dashboard has another host name');
    return file ?? missingPage(pathname);
  });
  api.all('/*', (c) => refuseUnknownPath(server, c));
  api.onError((error, c) => answerError(server, error, c));
  return api;
}

function checkRequest(server: ApiServer, c: Context<Env>): void {
  c.set('requestId', randomBytes(6).toString('hex'));
  checkRequestTarget(c.env.incoming.url ?? '');
  checkTransferEncoding(c.req.header('transfer-encoding'));
  checkHost(c.req.header('host'), server.names().hosts);
  if (new URL(c.req.url).searchParams.has('token'))
    refuse('invalid-request', 'a token must not be part of a URL');
}

/** Answers a request. `routes` has the routes of its path, one for each method. */
async function answer(server: ApiServer, routes: Route[], c: Context<Env>): Promise<Response> {
  const method = c.req.method === 'HEAD' ? 'GET' : c.req.method;
  const route = routes.find((one) => one.method === method);
  // A client without rights learns nothing, not even which methods exist.
  const grant = authorize(server, route ?? routes.find((one) => one.access !== 'open') ?? routes[0]!, c);
  if (route === undefined) {
    const error = new QueueError('wrong-method', `${c.req.method} is not allowed for this path`);
    const allow = routes.map((one) => one.method).join(', ');
    return problemResponse(error, c.get('requestId'), { allow });
  }
  const body = await checkAndReadBody(server, route, grant, c);
  const response = await callHandler(server, route, grant, body, c);
  // An answer to HEAD has no body, and a stream would stay open for ever.
  if (c.req.raw.method === 'HEAD') await response.body?.cancel();
  return response;
}

function authorize(server: ApiServer, route: Pick<Route, 'access' | 'path'>, c: Context<Env>): Grant {
  const { publicMetrics, access } = server.serving;
  if (route.access === 'open' || (route.path === '/metrics' && publicMetrics)) return OPEN_GRANT;
  const token = bearerOf(c.req.header('authorization'));
  const grant = token === null ? 'wrong-token' : access.check(token, c.env.outgoing);
  if (typeof grant === 'string') return deny(server, grant);
  server.onTrusted(c.env.incoming, c.env.outgoing, grant.role);
  return grant;
}

function deny(server: ApiServer, why: DenialReason): never {
  // A session of another server is never valid here, so it does not count as a guess.
  if (why === 'foreign-session')
    refuse('server-restarted', 'the server was restarted, which ended this session');
  refuseIfLimited(server.countWrongToken(), 'too-many-tries', 'too many wrong tokens');
  if (why === 'ended-session') refuse('session-ended', 'this session has ended');
  refuse('no-token', "this request needs the store's token");
}

/** Throws if the request is not allowed. Otherwise returns its body. */
async function checkAndReadBody(
  server: ApiServer,
  route: Route,
  grant: Grant,
  c: Context<Env>,
): Promise<unknown> {
  if (route.method !== 'GET') checkOrigin((name) => c.req.header(name), server.names().origins);
  if (route.access === 'change') {
    if (server.serving.readOnly) refuse('read-only', 'this server is read-only');
    if (grant.role === 'read-only') refuse('read-only', 'this token is read-only');
  }
  checkQuery(route, new URL(c.req.url).searchParams);
  const body = await readBody(route, c.req.raw);
  if (grant.ended.aborted) refuse('no-token', 'this token was replaced, or the session has ended');
  const changes = Array.isArray(body) ? body.length : 1;
  if (route.access === 'change')
    refuseIfLimited(server.countChanges(changes), 'too-many-changes', 'too many changes');
  return body;
}

/** Throws unless `seconds`, the time that the client has to wait, is 0. */
function refuseIfLimited(seconds: number, code: ErrorCode, what: string): void {
  if (seconds > 0) refuse(code, `${what}; try again in ${seconds}s`, undefined, { retryAfterS: seconds });
}

/** Calls the handler of the route. Equal GET requests for JSON that arrive together share one answer. */
async function callHandler(
  { serving }: ApiServer,
  route: Route,
  grant: Grant,
  body: unknown,
  c: Context<Env>,
): Promise<Response> {
  const { app, shared } = serving;
  const request: Omit<ApiRequest, 'app'> = {
    serving,
    grant,
    actor: `http:${c.env.incoming.socket.remoteAddress ?? 'local'}`,
    body,
    signal: c.req.raw.signal,
    params: c.req.param() as Record<string, string>,
    header: (name) => c.req.header(name),
    one: (name) => c.req.query(name),
    all: (name) => c.req.queries(name) ?? [],
  };
  const handle = async (): Promise<Response> => {
    // If the store was removed or replaced, the client gets an error or the new store, never the old one.
    if (route.access !== 'open') await serving.check();
    return route.handle({
      ...request,
      app: route.access === 'change' ? actingAs(app, request.actor) : { ...app },
    });
  };
  const { pathname, search } = new URL(c.req.url);
  if (route.method === 'GET' && route.access === 'read' && route.answers[200]?.schema !== null)
    return shared.answer(`${grant.role} ${pathname}${search}`, handle);
  return handle().finally(() => {
    if (route.access === 'change') shared.forget();
  });
}

/** Refuses an unknown path. Without a token the answer is the same as for a known path. */
function refuseUnknownPath(server: ApiServer, c: Context<Env>): never {
  authorize(server, { access: 'read', path: '' }, c);
  refuse('no-such-route', 'there is no such path');
}

function answerError(server: ApiServer, error: Error, c: Context<Env>): Response {
  const requestId = c.get('requestId') ?? randomBytes(6).toString('hex');
  const shownError = withoutDetails(error, requestId);
  if (shownError !== error && !c.req.raw.signal.aborted) server.onError(error, requestId);
  const extra: Record<string, string> = {
    ...(CLOSING_ERRORS.has(shownError.code) ? { connection: 'close' } : {}),
    ...(ERRORS[shownError.code].status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
    ...(shownError.retryAfterS === null ? {} : { 'retry-after': String(shownError.retryAfterS) }),
  };
  return problemResponse(shownError, requestId, extra);
}

function checkQuery(route: Route, given: URLSearchParams): void {
  const known = Object.keys(route.query ?? {});
  for (const name of given.keys())
    if (!known.includes(name)) refuse('invalid-request', `unknown query parameter '${name}'`);
    else if (given.getAll(name).length > 1 && !REPEATABLE.includes(name))
      refuse('invalid-request', `query parameter '${name}' is given more than once`);
}
