import { expect, test } from 'bun:test';
import { KEPT_FIELDS } from '../../src/core/field-list.ts';
import { storedFields } from '../../src/core/stored-fields.ts';

test('the bundler puts the stored properties of every job field into the program', () => {
  const rows = storedFields();
  expect(rows.map(({ name }) => name)).toEqual(KEPT_FIELDS.map(({ name }) => name));
  for (const [i, field] of KEPT_FIELDS.entries()) {
    const { edit, type, ...stored } = rows[i]!;
    expect(field).toMatchObject(JSON.parse(JSON.stringify(stored)));
    expect([field.name, field.edit !== undefined, field.type!.type]).toEqual([
      stored.name,
      edit === true,
      type.type,
    ]);
  }
});
