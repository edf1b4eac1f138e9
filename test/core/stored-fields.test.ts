import { expect, test } from 'bun:test';
import { KEPT_FIELDS } from '../../src/core/field-list.ts';
import { STORED_FIELDS } from '../../src/core/stored-fields.ts';

test('the bundler puts the stored properties of every job field into the program', () => {
  expect(STORED_FIELDS.map(({ name }) => name)).toEqual(KEPT_FIELDS.map(({ name }) => name));
  for (const [i, field] of KEPT_FIELDS.entries()) {
    const { edit, type, ...stored } = STORED_FIELDS[i]!;
    expect(field).toMatchObject(JSON.parse(JSON.stringify(stored)));
    expect([field.name, field.edit !== undefined, field.type!.type]).toEqual([
      stored.name,
      edit === true,
      type.type,
    ]);
  }
});
