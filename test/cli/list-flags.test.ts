import { expect, test } from 'bun:test';
import { type Command, loadCommand } from '../../src/cli/frame/command.ts';
import { SECTIONS } from '../../src/cli/frame/commands.ts';
import { fieldsOf } from '../../src/cli/print/read-layout.ts';

const loaders = Object.values(SECTIONS)
  .flatMap((section) => Object.values(section))
  .flatMap((entry) => (typeof entry === 'function' ? [entry] : Object.values(entry.commands)));

test('the help of --format shows a template with two fields of the objects that the command prints', async () => {
  const commands = await Promise.all(loaders.map(loadCommand));
  const lists = commands.filter(({ flags }: Command) => flags?.format?.value === 'FORMAT');
  expect(lists.length).toBeGreaterThan(5);
  for (const command of lists) {
    const fields = [...command.flags!.format!.help.matchAll(/\{(\w+)\}/g)].map(([, field]) => field!);
    expect(fields.length).toBe(2);
    for (const field of fields) expect([command.name, ...fieldsOf(command)]).toContain(field);
  }
});

test('the help of `events --time` names ISO as the default', async () => {
  const { default: events } = await import('../../src/cli/commands/events.ts');
  expect(events.flags!.time!.help).toContain('default: iso');
});
