import { expect, test } from 'bun:test';
import { COMMAND_ALIASES } from '../../src/cli/frame/aliases.ts';
import { canonicalWords } from '../../src/cli/frame/find-any-command.ts';
import { TEXT_COMMANDS } from '../../src/cli/frame/find-command.ts';

test('no alias begins with a command that is found without the aliases', () => {
  const words = Object.values(COMMAND_ALIASES).flat();
  expect(words.filter((word) => Object.hasOwn(TEXT_COMMANDS, word.split(' ')[0]!))).toEqual([]);
  for (const name of Object.keys(TEXT_COMMANDS))
    for (const text of words) expect(canonicalWords([name, text])).toEqual([name, text]);
});
