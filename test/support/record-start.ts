/**
 * A preload that records what a command costs: each source file that it loads, each statement that it prepares or runs, and
 * each call of node:fs. The record is written to the file $RECORD when the process exits.
 */

import fs, { readFileSync, writeFileSync } from 'node:fs';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { plugin } from 'bun';

export interface StartRecord {
  /** The paths of the loaded source files below src/. */
  modules: string[];
  /** The SQL texts, in order. */
  prepared: string[];
  executed: string[];
  /** How often each prepared statement ran, by its SQL text. */
  runs: Record<string, number>;
  /** How often each function of node:fs was called, by its name. */
  fileCalls: Record<string, number>;
}

const record: StartRecord = { modules: [], prepared: [], executed: [], runs: {}, fileCalls: {} };
const add = (counts: Record<string, number>, key: string): void => {
  counts[key] = (counts[key] ?? 0) + 1;
};

/** The source imports its functions from here instead of node:fs, because the names of a built-in module cannot be replaced. */
const COUNTED_FS = Object.fromEntries(
  Object.entries(fs).map(([name, value]) => [
    name,
    typeof value === 'function' && /^[a-z]/.test(name) ? counted(name, value as typeof writeFileSync) : value,
  ]),
);
Object.assign(globalThis, { countedFs: COUNTED_FS });

function counted(name: string, original: (...args: never[]) => unknown) {
  return (...args: never[]): unknown => {
    add(record.fileCalls, name);
    return original(...args);
  };
}

/** Replaces the imports of node:fs in a source file. */
function withCountedFs(source: string): string {
  return source.replace(/^import \{([^}]*)\} from 'node:fs';/gm, (_, names: string) => {
    const values = names.split(',').filter((name) => !/^\s*(type |$)/.test(name));
    return `const {${values.map((name) => name.replace(' as ', ': ')).join()}} = globalThis.countedFs;`;
  });
}

plugin({
  name: 'record-start',
  setup(build) {
    build.onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => {
      record.modules.push(path.slice(path.lastIndexOf('/src/') + 5));
      return { contents: withCountedFs(readFileSync(path, 'utf8')), loader: 'ts' };
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
  return exec.call(this, sql);
};
for (const verb of ['get', 'all', 'run', 'iterate'] as const) {
  const original = StatementSync.prototype[verb] as (...values: unknown[]) => never;
  StatementSync.prototype[verb] = function (this: StatementSync, ...values: unknown[]) {
    add(record.runs, this.sourceSQL);
    return original.apply(this, values);
  };
}

process.on('exit', () => writeFileSync(process.env.RECORD!, JSON.stringify(record)));
