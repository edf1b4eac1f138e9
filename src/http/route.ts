import type { App } from '../actions/app.ts';
import type { Schema } from '../core/wire/schema.ts';
import type { AccessControl, Grant } from './access.ts';
import type { Operations } from './operations.ts';
import type { SharedAnswers } from './shared-answers.ts';
import type { EventStreams } from './stream.ts';

/** The options and the state of a running server. */
export interface Serving {
  app: App;
  /** The location of the store, for checks that do not use the open store. */
  location: string;
  /** Throws if the store is unavailable. Opens the new store if it was replaced. */
  check(): Promise<void>;
  readOnly: boolean;
  publicMetrics: boolean;
  access: AccessControl;
  operations: Operations;
  stream: EventStreams;
  shared: SharedAnswers;
}

export interface ApiRequest {
  serving: Serving;
  app: App;
  /** The rights of the request. */
  grant: Grant;
  /** The client, as the event log names it. */
  actor: string;
  params: Record<string, string>;
  /** Returns the value of a query parameter, or undefined if it is missing. */
  one(name: string): string | undefined;
  /** Returns all values of a query parameter. */
  all(name: string): string[];
  header(name: string): string | undefined;
  /** The parsed JSON of the body. Undefined if the route takes none. */
  body: unknown;
  signal: AbortSignal;
}

/** Describes a successful answer of a route. */
interface AnswerSpec {
  description: string;
  /** Null if the answer is not JSON, or has no body. */
  schema: Schema | null;
  /** The content type of a body that is not JSON. */
  type?: string;
  /** Further headers of the answer, with their descriptions. */
  headers?: Record<string, string>;
}

/** A row of the route table. The router, the access checks and the OpenAPI document use it. */
export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The path, with `{name}` for each parameter. */
  path: string;
  summary: string;
  /** `open` needs no token, and `read` any token. `change` is refused by a read-only server, and with a read-only token. */
  access: 'open' | 'read' | 'change';
  /** The query parameters with their descriptions. All others are refused. */
  query?: Record<string, string>;
  /** The request headers that the route reads, with their descriptions. */
  headers?: Record<string, string>;
  body?: Schema;
  /** The successful answers by status. Errors have the same form on all routes. */
  answers: Record<number, AnswerSpec>;
  handle(request: ApiRequest): Promise<Response>;
}

type RouteRest = Omit<Route, 'method' | 'path' | 'access'> & Partial<Pick<Route, 'access'>>;

const routeBy =
  (method: Route['method'], access: Route['access']) =>
  (path: string, rest: RouteRest): Route => ({ method, path, access, ...rest });

/* GET routes need `read` access, and all other routes `change` access, unless `rest` sets another. */
export const get = routeBy('GET', 'read');
export const post = routeBy('POST', 'change');
export const put = routeBy('PUT', 'change');
export const patch = routeBy('PATCH', 'change');
export const del = routeBy('DELETE', 'change');

export function json(value: unknown, status = 200): Response {
  return new Response(JSON.stringify(value), { status, headers: { 'content-type': 'application/json' } });
}
