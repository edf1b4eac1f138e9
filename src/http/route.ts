import type { App } from '../actions/app.ts';
import type { Schema } from '../core/schema.ts';
import type { Access, Grant } from './access.ts';
import type { Operations } from './operations.ts';
import type { SharedAnswers } from './shared-answers.ts';
import type { EventStream } from './stream.ts';

/** What the server was started with, and what it keeps while it runs. */
export interface Serving {
  app: App;
  /** Where the store is, for whoever looks at it from outside. */
  location: string;
  /** Whether the store is at its place; fails when it is not. */
  check(): Promise<void>;
  readOnly: boolean;
  publicMetrics: boolean;
  access: Access;
  operations: Operations;
  stream: EventStream;
  shared: SharedAnswers;
}

export interface ApiRequest {
  serving: Serving;
  app: App;
  /** What whoever is asking may do. */
  grant: Grant;
  /** Who is asking, for the activity log. */
  actor: string;
  params: Record<string, string>;
  one(query: string): string | undefined;
  all(query: string): string[];
  header(name: string): string | undefined;
  /** The JSON of the body; undefined where the route has none. */
  body: unknown;
  signal: AbortSignal;
}

interface Told {
  description: string;
  /** Null: not JSON. */
  schema: Schema | null;
  type?: string;
  /** Headers of the answer that say more about it. */
  headers?: Record<string, string>;
}

/** One row: what the router, the guards, the OpenAPI document and the tests know of a route. */
export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With `{name}` for what varies. */
  path: string;
  summary: string;
  /** `open` needs no token. `change` is refused by a read-only server, and with a read-only token. */
  access: 'open' | 'look' | 'change';
  /** Every query that is taken, and what it means. */
  query?: Record<string, string>;
  /** Headers that are taken beside those of HTTP, and what they mean. */
  headers?: Record<string, string>;
  body?: Schema;
  /** The good answers; errors are the same everywhere. */
  answers: Record<number, Told>;
  handle(request: ApiRequest): Promise<Response>;
}

export function json(value: unknown, status = 200, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(value), {
    status,
    headers: { 'content-type': 'application/json', ...headers },
  });
}
