/**
 * A preload that records what a command costs: each file of the program that it loads, each statement that it prepares or runs,
 * and each call of node:fs, node:child_process and Bun.spawn. Calls are recorded if the program runs from its source, and files if it was
 * bundled into the directory $PROGRAM. The record is written to the file $RECORD when the process exits.
 */

import childProcess from 'node:child_process';
import fs, { readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { plugin } from 'bun';

/** How often something was called, and how long the calls took in total. */
export interface Cost {
  calls: number;
  ms: number;
}

export interface StartRecord {
  /** The names of the loaded files. */
  files: string[];
  /** The SQL texts, in order. */
  prepared: string[];
  executed: string[];
  /** The cost of each SQL text, prepared or executed. */
  statements: Record<string, Cost>;
  /** The cost of each function of node:fs and node:child_process and of Bun.spawn, by its name. */
  calls: Record<string, Cost>;
}

const record: StartRecord = { files: [], prepared: [], executed: [], statements: {}, calls: {} };

/** Returns the result of `work`, and adds its duration to the costs. */
function measured<T>(costs: Record<string, Cost>, key: string, work: () => T): T {
  const start = performance.now();
  try {
    return work();
  } finally {
    costs[key] ??= { calls: 0, ms: 0 };
    costs[key].calls++;
    costs[key].ms += performance.now() - start;
  }
}

/** The source gets its functions from here, because the exports of a built-in module cannot be replaced. */
const MEASURED_MODULES = {
  'node:fs': measuredModule(fs),
  'node:child_process': measuredModule(childProcess),
};
Object.assign(globalThis, { measuredModules: MEASURED_MODULES });
const { spawn } = Bun;
Object.assign(Bun, {
  spawn: (...args: Parameters<typeof spawn>) => measured(record.calls, 'spawn', () => spawn(...args)),
});

function measuredModule(exports: object): object {
  const entries = Object.entries(exports).map(([name, value]) => {
    if (typeof value !== 'function' || !/^[a-z]/.test(name)) return [name, value];
    return [name, (...args: unknown[]) => measured(record.calls, name, () => value(...args))];
  });
  return Object.fromEntries(entries);
}

/** Replaces the imports of the measured modules in a source file. Macros become ordinary functions, because Bun runs none here. */
function withMeasuredModules(source: string): string {
  const imports = /^import \{([^}]*)\} from '(node:(?:fs|child_process))';/gm;
  return source
    .replace(/ with \{\s*type: 'macro',?\s*\}/, '')
    .replace(imports, (_, names: string, module: string) => {
      const values = names.split(',').filter((name) => !/^\s*(type |$)/.test(name));
      const pattern = values.map((name) => name.replace(' as ', ': ')).join();
      return `const {${pattern}} = globalThis.measuredModules['${module}'];`;
    });
}

plugin({
  name: 'record-start',
  setup(build) {
    // A CommonJS package that passes through a plugin loses its default export, so only the files of the program do.
    build.onLoad({ filter: /^(?!.*\/node_modules\/).*\.js$/ }, ({ path }) => {
      if (dirname(path) === process.env.PROGRAM) record.files.push(basename(path));
      return { contents: readFileSync(path, 'utf8'), loader: 'js' };
    });
    build.onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => {
      return { contents: withMeasuredModules(readFileSync(path, 'utf8')), loader: 'ts' };
    });
  },
});

const { prepare, exec } = DatabaseSync.prototype;
DatabaseSync.prototype.prepare = function (sql, ...options) {
  record.prepared.push(sql);
  return prepare.call(this, sql, ...options);
};
DatabaseSync.prototype.exec = function (sql) {
  record.executed.push(sql);
  return measured(record.statements, sql, () => exec.call(this, sql));
};
for (const verb of ['get', 'all', 'run', 'iterate'] as const) {
  const original = StatementSync.prototype[verb] as (...values: unknown[]) => never;
  StatementSync.prototype[verb] = function (this: StatementSync, ...values: unknown[]) {
    return measured(record.statements, this.sourceSQL, () => original.apply(this, values));
  };
}

process.on('exit', () => writeFileSync(process.env.RECORD!, JSON.stringify(record)));
