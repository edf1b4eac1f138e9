import { expect } from 'bun:test';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { Route } from '../../src/http/route.ts';
import { ROUTES } from '../../src/http/routes.ts';
import { SCHEMAS } from '../../src/http/schemas.ts';
import type { Answer } from './http.ts';

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
formats.default(ajv);
// `components` is a keyword of OpenAPI. Strict mode rejects unknown keywords.
ajv.addVocabulary(['components']);
ajv.addSchema({ $id: 'api', components: { schemas: SCHEMAS } });
const validators = new Map<object, ValidateFunction>();
const receivedAnswers = new Set<string>();

const ROUTE_PATTERNS = ROUTES.map((route) => ({
  route,
  pattern: new RegExp(`^${route.path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}));

/** Returns the name of an answer: its method, its path and its status, or `default` for an error that the route does not list. */
const nameOf = (route: Route, status: number | 'default'): string =>
  `${route.method} ${route.path} ${status}`;

/** Checks an answer against the table of routes, and remembers that a test has received it. Ignores unknown paths. */
export function checkAnswer(method: string, url: string, answer: Omit<Answer, 'text'>): void {
  const path = url.split('?', 1)[0]!;
  const found = ROUTE_PATTERNS.find(({ route, pattern }) => route.method === method && pattern.test(path));
  if (found === undefined) return;
  const { route } = found;
  const declared = route.answers[answer.status];
  if (declared === undefined) {
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    checkSchema({ $ref: 'api#/components/schemas/Problem' }, answer.json, nameOf(route, 'default'));
    receivedAnswers.add(nameOf(route, 'default'));
    return;
  }
  const name = nameOf(route, answer.status);
  const type = declared.type ?? (declared.schema === null ? null : 'application/json');
  expect({ name, type: answer.headers.get('content-type')?.split(';')[0] ?? null }).toEqual({ name, type });
  for (const header of Object.keys(declared.headers ?? {})) expect(answer.headers.get(header)).not.toBeNull();
  if (declared.schema !== null) checkSchema(declared.schema, answer.json, name);
  receivedAnswers.add(name);
}

/** Returns the documented answers that no test has received. */
export function untestedAnswers(): string[] {
  const documented = ROUTES.flatMap((route) => [
    ...Object.keys(route.answers).map((status) => nameOf(route, Number(status))),
    nameOf(route, 'default'),
  ]);
  return documented.filter((name) => !receivedAnswers.has(name));
}

function checkSchema(schema: object, value: unknown, name: string): void {
  let check = validators.get(schema);
  if (check === undefined) {
    const local = JSON.parse(
      JSON.stringify(schema).replaceAll('"#/components', '"api#/components'),
    ) as object;
    check = ajv.compile(local);
    validators.set(schema, check);
  }
  if (!check(value))
    throw new Error(`${name}: ${ajv.errorsText(check.errors)} in ${JSON.stringify(value).slice(0, 2000)}`);
}
