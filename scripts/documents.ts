/**
 * Runs the commands on the pages of the manual with the built executable. Reports unexpected exit codes, and where a page
 * shows something else than the program prints. With --update it writes the real output into the pages, and the routes of
 * the HTTP API into docs/http-api.md. Run it after a build: npx bun scripts/documents.ts [--update] [PAGE…]
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { ROUTES } from '../src/http/routes.ts';
import { handwrittenPages, runPage, updatePage } from '../test/support/documents/run.ts';

const ROUTES_PAGE = 'docs/http-api.md';
const ROUTES_TABLE = /(\| route \|.*\n\|---\|---\|\n)(?:\|.*\n)*/;

const update = process.argv.includes('--update');
const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith('-'));

function updateRoutes(): void {
  const rows = ROUTES.map(({ method, path, summary }) => `| \`${method} ${path}\` | ${summary} |\n`).join('');
  const text = readFileSync(ROUTES_PAGE, 'utf8');
  writeFileSync(
    ROUTES_PAGE,
    text.replace(ROUTES_TABLE, (_, head) => head + rows),
  );
}

if (update) updateRoutes();
let problems = 0;
for (const page of handwrittenPages().filter((name) => wanted.length === 0 || wanted.includes(name))) {
  const found = await (update ? updatePage(page) : runPage(page));
  problems += found.length;
  for (const { where, command, exit, shown, printed } of found) {
    console.log(`${where}: $ ${command}`);
    if (exit) console.log(`exit code ${exit.actual}, expected ${exit.expected}:\n${exit.output}`);
    else console.log(`--- shown\n${shown}\n--- printed\n${printed}`);
  }
}
process.exitCode = problems === 0 ? 0 : 1;
