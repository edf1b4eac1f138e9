import { VERSION } from '../core/version.ts';
import { ref, type Schema, text } from '../core/wire/schema.ts';
import { get, json, type Route } from './route.ts';
import { EVENT_ROUTES } from './routes/events.ts';
import { JOB_ROUTES } from './routes/jobs.ts';
import { OPERATION_ROUTES } from './routes/operations.ts';
import { QUEUE_ROUTES } from './routes/queues.ts';
import { SCHEDULE_ROUTES } from './routes/schedules.ts';
import { SERVER_ROUTES } from './routes/server.ts';
import { SCHEMAS } from './schemas.ts';

/** All routes. The router, the access checks, the OpenAPI document and the tests read this table. */
export const ROUTES: Route[] = [
  ...JOB_ROUTES,
  ...OPERATION_ROUTES,
  ...QUEUE_ROUTES,
  ...SCHEDULE_ROUTES,
  ...EVENT_ROUTES,
  ...SERVER_ROUTES,
  get('/api/v1/openapi.json', {
    summary: 'Get the OpenAPI document',
    answers: { 200: { description: 'OpenAPI 3.1', schema: { type: 'object' } } },
    handle: async () => json(openApi()),
  }),
];

/** Returns the OpenAPI 3.1 document of all routes. */
function openApi(): object {
  const byPath = [...Map.groupBy(ROUTES, ({ path }) => path)];
  const operationsOf = (routes: Route[]) =>
    Object.fromEntries(routes.map((route) => [route.method.toLowerCase(), operation(route)]));
  return {
    openapi: '3.1.0',
    info: {
      title: 'queuectl',
      version: VERSION,
      description: 'Manages the jobs, queues, schedules and workers of one store.',
    },
    paths: Object.fromEntries(byPath.map(([path, routes]) => [path, operationsOf(routes)])),
    components: { schemas: SCHEMAS, securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
  };
}

/* Properties that are undefined are not part of the JSON. */

const content = (schema: Schema, type = 'application/json') => ({ [type]: { schema } });

function operation(route: Route): object {
  const answers = Object.entries(route.answers).map(([status, { description, schema, type, headers }]) => {
    const isEmpty = schema === null && type === undefined;
    const answer = { description, headers: headers && answerHeaders(headers) };
    return [status, { ...answer, content: isEmpty ? undefined : content(schema ?? text, type) }];
  });
  return {
    summary: route.summary,
    operationId: idOf(route),
    parameters: parameters(route),
    requestBody: route.body && { required: true, content: content(route.body) },
    security: route.access === 'open' ? [] : [{ token: [] }],
    responses: {
      ...Object.fromEntries(answers),
      default: { description: 'an error', content: content(ref('Problem'), 'application/problem+json') },
    },
  };
}

function answerHeaders(given: Record<string, string>): object {
  const describe = (description: string) => ({ description, required: true, schema: text });
  return Object.fromEntries(
    Object.entries(given).map(([name, description]) => [name, describe(description)]),
  );
}

function idOf({ method, path }: Route): string {
  const words = path
    .replace('/api/v1', '')
    .split(/[/{}]+/)
    .filter(Boolean);
  return [method.toLowerCase(), ...words].join('_').replaceAll(/[^\w]/g, '_');
}

function parameters(route: Route): object[] {
  const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => {
    return { name, in: 'path', required: true, schema: text };
  });
  const parametersIn = (where: string, given: Record<string, string> = {}) =>
    Object.entries(given).map(([name, description]) => ({ name, in: where, description, schema: text }));
  return [...inPath, ...parametersIn('query', route.query), ...parametersIn('header', route.headers)];
}
