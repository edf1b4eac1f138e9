import { expect, test } from 'bun:test';
import { SAVED_TABLES } from '../../src/store/tables.ts';
import { withSqlite } from '../support/sqlite.ts';

/** The tables that are not saved, each with the reason. */
const NOT_SAVED: Record<string, string> = {
  meta: 'every store has an epoch of its own',
  worker: 'workers belong to one machine',
  supervisor: 'supervisors belong to one machine',
  counter: 'computed again from the jobs',
  log: 'an export folds it, and a repair saves it like the tables that an export has',
  event_number: 'follows from the events',
};

test('every table of the schema is saved by export and repair, or left out for a reason', () =>
  withSqlite(async (_, connection) => {
    const tables = connection
      .all("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
      .map((row) => String(row.name));
    expect([...SAVED_TABLES.map((table) => table.name), ...Object.keys(NOT_SAVED)].sort()).toEqual(
      tables.sort(),
    );
  }));

test('a saved table has the primary key and the foreign keys of the schema', () =>
  withSqlite(async (_, connection) => {
    for (const { name, refs, key } of SAVED_TABLES) {
      const columns = connection.all('SELECT name, pk FROM pragma_table_info(?)', name);
      const primary = columns.filter((row) => Number(row.pk) > 0).map((row) => String(row.name));
      expect({ name, key: [...key].sort() }).toEqual({ name, key: primary.sort() });
      for (const row of connection.all(
        'SELECT "table" AS parent, "from" AS child FROM pragma_foreign_key_list(?)',
        name,
      ))
        expect(refs[String(row.child)]).toBe(String(row.parent));
    }
  }));
