import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { actingAs } from '../actions/app.ts';
import { ERRORS, type ErrorCode, QueueError } from '../core/errors.ts';
import { ANYBODY, type Denied, type Grant } from './access.ts';
import { assets } from './assets.ts';
import { REPEATED } from './filter.ts';
import { bearer, bucket, checkCoding, checkHost, checkOrigin, checkTarget, SAFE_HEADERS } from './guard.ts';
import type { Names } from './names.ts';
import { hidden, problem, refuse } from './problem.ts';
import { readBody } from './read-body.ts';
import type { ApiRequest, Route, Serving } from './route.ts';
import { ROUTES } from './routes.ts';

const WRONG_PER_SECOND = 5;
const WRONG_AT_ONCE = 20;
/** The changes of so many seconds may come together. */
const BURST_SECONDS = 10;

/** After these the connection is closed: the rest of the request is not waited for, or its end is unknown. */
const CLOSING = new Set<ErrorCode>(['too-large', 'too-slow', 'unknown-coding']);

export interface ApiOptions {
  serving: Serving;
  /** Changes per second, on the whole; an array counts as its jobs. */
  maxRate: number;
  /** Every name that this server answers to. */
  names(): Names;
  /** Told of every request with the token, before it is answered. */
  onTrusted(incoming: IncomingMessage, outgoing: ServerResponse): void;
  /** Told of what nobody expected. */
  onError(error: unknown, requestId: string): void;
}

type Env = { Bindings: HttpBindings; Variables: { requestId: string } };

/** The table of routes behind one guard, as a web-standard handler that any server can mount. */
export function createApi(options: ApiOptions): Hono<Env> {
  const api = new Hono<Env>();
  const clock = (): number => performance.now();
  // Wrong tokens empty it; the right one never looks at it.
  const wrong = bucket(clock, WRONG_PER_SECOND, WRONG_AT_ONCE);
  const changes = bucket(clock, options.maxRate, options.maxRate * BURST_SECONDS);

  const authorize = (route: Pick<Route, 'access' | 'path'>, c: Context<Env>): Grant => {
    const { publicMetrics, access } = options.serving;
    if (route.access === 'open' || (route.path === '/metrics' && publicMetrics)) return ANYBODY;
    const given = bearer(c.req.header('authorization'));
    const grant = given === null ? 'wrong-token' : access.check(given, c.env.outgoing);
    if (typeof grant === 'string') return deny(grant);
    options.onTrusted(c.env.incoming, c.env.outgoing);
    return grant;
  };

  const deny = (why: Denied): never => {
    // No session of another server opens anything here, so it does not count as a guess.
    if (why === 'foreign-session')
      refuse('server-restarted', 'the server was restarted, which ended this session');
    const seconds = wrong();
    if (seconds > 0) refuse('too-many-tries', `too many wrong tokens; try again in ${seconds}s`);
    if (why === 'ended-session') refuse('session-ended', 'this session has ended');
    refuse('no-token', "this request needs the store's token");
  };

  api.use('*', async (c, next) => {
    c.set('requestId', randomBytes(6).toString('hex'));
    checkTarget(c.env.incoming.url ?? '');
    checkCoding(c.req.header('transfer-encoding'));
    checkHost(c.req.header('host'), options.names().hosts);
    if (new URL(c.req.url).searchParams.has('token'))
      refuse('invalid-request', 'a token must not be part of a URL');
    await next();
    for (const [name, value] of Object.entries(SAFE_HEADERS))
      if (!c.res.headers.has(name)) c.res.headers.set(name, value);
    if (!c.res.headers.has('cache-control')) c.res.headers.set('cache-control', 'no-store');
  });

  const byPath = new Map<string, Route[]>();
  for (const route of ROUTES) byPath.set(route.path, [...(byPath.get(route.path) ?? []), route]);
  for (const [path, routes] of byPath) {
    api.all(path.replaceAll(/\{(\w+)\}/g, ':$1'), async (c) => {
      const header = (name: string): string | undefined => c.req.header(name);
      const method = c.req.method === 'HEAD' ? 'GET' : c.req.method;
      const route = routes.find((one) => one.method === method);
      // Who may not look learns nothing, not even which methods there are.
      const grant = authorize(route ?? routes.find((one) => one.access !== 'open') ?? routes[0]!, c);
      if (route === undefined) {
        const error = new QueueError('wrong-method', `${c.req.method} is not allowed for this path`);
        const allow = routes.map((one) => one.method).join(', ');
        return problem(error, c.get('requestId'), { allow });
      }
      if (route.method !== 'GET') checkOrigin(header, options.names().origins);
      if (route.access === 'change') {
        if (options.serving.readOnly) refuse('read-only', 'this server is read-only');
        if (grant.role === 'read-only') refuse('read-only', 'this token is read-only');
      }
      const { pathname, search, searchParams } = new URL(c.req.url);
      checkQuery(route, searchParams);
      const body = await readBody(route, c.req.raw);
      if (grant?.ended.aborted) refuse('no-token', 'this token was replaced, or the session has ended');
      if (route.access === 'change') {
        const seconds = changes(Array.isArray(body) ? body.length : 1);
        if (seconds > 0) refuse('too-many-changes', `too many changes; try again in ${seconds}s`);
      }
      const { app, shared } = options.serving;
      const actor = `http:${c.env.incoming.socket.remoteAddress ?? 'local'}`;
      const request: Omit<ApiRequest, 'app'> = {
        ...{ serving: options.serving, grant, actor, header, signal: c.req.raw.signal },
        params: c.req.param() as Record<string, string>,
        one: (name) => c.req.query(name),
        all: (name) => c.req.queries(name) ?? [],
        body,
      };
      const handle = async (): Promise<Response> => {
        // Whoever asks is told that the store is away, rather than shown, or given, one that nobody will see again.
        if (route.access !== 'open') await options.serving.check();
        return route.handle({
          ...request,
          app: route.access === 'change' ? actingAs(app, actor) : { ...app },
        });
      };
      const response = await (isShared(route)
        ? shared.answer(`${grant.role} ${pathname}${search}`, handle)
        : handle().finally(() => {
            if (route.access === 'change') shared.forget();
          }));
      // What nobody will read is let go: a stream would stay open for ever.
      if (c.req.raw.method === 'HEAD') await response.body?.cancel();
      return response;
    });
  }

  api.get('/*', (c) => {
    const asset = assets(new URL(c.req.url).pathname, c.req.header('accept-encoding'));
    if (asset !== null) return asset;
    // Below /api everything but the truth about routes needs the token: an unknown path looks like a known one.
    authorize({ access: 'look', path: '' }, c);
    refuse('no-such-route', 'there is no such path');
  });
  api.all('/*', (c) => {
    authorize({ access: 'look', path: '' }, c);
    refuse('no-such-route', 'there is no such path');
  });

  api.onError((error, c) => {
    const requestId = c.get('requestId') ?? randomBytes(6).toString('hex');
    const known = hidden(error, requestId);
    if (known !== error && !c.req.raw.signal.aborted) options.onError(error, requestId);
    const seconds = /in (\d+)s$/.exec(known.message)?.[1];
    const extra: Record<string, string> = {
      ...SAFE_HEADERS,
      'cache-control': 'no-store',
      ...(CLOSING.has(known.code) ? { connection: 'close' } : {}),
      ...(ERRORS[known.code].status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
      ...(ERRORS[known.code].status === 429 && seconds !== undefined ? { 'retry-after': seconds } : {}),
    };
    return problem(known, requestId, extra);
  });
  return api;
}

/** What anybody with the token is told alike, and as a whole. */
function isShared({ method, access, answers }: Route): boolean {
  return method === 'GET' && access === 'look' && answers[200]?.schema !== null;
}

function checkQuery(route: Route, given: URLSearchParams): void {
  const known = Object.keys(route.query ?? {});
  for (const name of given.keys())
    if (!known.includes(name)) refuse('invalid-request', `unknown query parameter '${name}'`);
    else if (given.getAll(name).length > 1 && !REPEATED.includes(name))
      refuse('invalid-request', `query parameter '${name}' is given more than once`);
}
