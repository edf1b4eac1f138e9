import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERRORS } from '../../src/core/errors.ts';
import { ROUTES } from '../../src/http/routes.ts';

const page = readFileSync(join(import.meta.dir, '../../docs/http-api.md'), 'utf8');

test('docs/http-api.md lists every route of the table and no others', () => {
  const documented = [...page.matchAll(/^\| `((?:GET|POST|PUT|PATCH|DELETE) \S+)` \| (.*) \|$/gm)];
  const routes = documented.map(([, route, summary]) => `${route} ${summary}`);
  expect(routes).toEqual(ROUTES.map(({ method, path, summary }) => `${method} ${path} ${summary}`));
});

test('docs/http-api.md lists every error status that a client can get', () => {
  const rows = [...page.matchAll(/^\| (\d{3}(?:, \d{3})*) \|/gm)].flatMap(([, list]) => list!.split(', '));
  // Errors with these statuses are unexpected or occur only on the command line.
  const undocumented = [500, 501, 504];
  // The HTTP parser answers 431 itself, without an error of queuectl.
  const statuses = [...new Set([431, ...Object.values(ERRORS).map((row) => row.status)])];
  expect(rows.map(Number).sort()).toEqual(statuses.filter((status) => !undocumented.includes(status)).sort());
});
