import { ref, text } from '../core/schema.ts';
import { VERSION } from '../core/version.ts';
import type { Route } from './route.ts';
import { SCHEMAS } from './schemas.ts';

/** Returns the OpenAPI 3.1 document of a table of routes. */
export function openApi(routes: Route[]): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    paths[route.path] ??= {};
    paths[route.path]![route.method.toLowerCase()] = operation(route);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'queuectl',
      version: VERSION,
      description: 'Manages the jobs, queues, schedules and workers of one store.',
    },
    paths,
    components: { schemas: SCHEMAS, securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
  };
}

function operation(route: Route): object {
  const answers = Object.entries(route.answers).map(([status, { description, schema, type, headers }]) => [
    status,
    {
      description,
      ...(headers === undefined ? {} : { headers: answerHeaders(headers) }),
      ...(schema === null && type === undefined
        ? {}
        : { content: { [type ?? 'application/json']: { schema: schema ?? { type: 'string' } } } }),
    },
  ]);
  return {
    summary: route.summary,
    operationId: idOf(route),
    parameters: parameters(route),
    ...(route.body === undefined
      ? {}
      : { requestBody: { required: true, content: { 'application/json': { schema: route.body } } } }),
    security: route.access === 'open' ? [] : [{ token: [] }],
    responses: {
      ...Object.fromEntries(answers),
      default: {
        description: 'an error',
        content: { 'application/problem+json': { schema: ref('Problem') } },
      },
    },
  };
}

function answerHeaders(given: Record<string, string>): object {
  const described = Object.entries(given).map(([name, description]) => [
    name,
    { description, required: true, schema: { type: 'string' } },
  ]);
  return Object.fromEntries(described);
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
