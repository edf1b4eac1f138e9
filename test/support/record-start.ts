/**
 * A preload that records what a command costs: each file of the program that it loads, and each statement that it prepares or
 * executes. The program was bundled into the directory $PROGRAM.
 * The record is written to the file $RECORD when the process exits.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { plugin } from 'bun';

export interface StartRecord {
  /** The names of the loaded files. */
  files: string[];
  /** The SQL texts, in order. */
  prepared: string[];
  executed: string[];
}

const record: StartRecord = { files: [], prepared: [], executed: [] };

plugin({
  name: 'record-start',
  setup(build) {
    build.onLoad({ filter: /\.js$/ }, ({ path }) => {
      if (dirname(path) === process.env.PROGRAM) record.files.push(basename(path));
      return { contents: readFileSync(path, 'utf8'), loader: 'js' };
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
