/**
 * A preload that records what a command costs: each source file that it loads, and each statement that it prepares or executes.
 * The record is written to the file $RECORD when the process exits.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { plugin } from 'bun';

export interface StartRecord {
  /** The paths of the loaded source files below src/. */
  modules: string[];
  /** The SQL texts, in order. */
  prepared: string[];
  executed: string[];
}

const record: StartRecord = { modules: [], prepared: [], executed: [] };

plugin({
  name: 'record-start',
  setup(build) {
    build.onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => {
      record.modules.push(path.slice(path.lastIndexOf('/src/') + 5));
      return { contents: readFileSync(path, 'utf8'), loader: 'ts' };
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

process.on('exit', () => writeFileSync(process.env.RECORD!, JSON.stringify(record)));
