import { describe, expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { compileTemplate } from '../../src/core/jobs/template.ts';
import { errorOf } from '../support/error-of.ts';
import { inTempDir } from '../support/temp-dir.ts';

const HOSTILE_LINES = [
  'plain',
  'two words',
  "it's",
  "'; touch canary; '",
  '"; touch canary; "',
  '$(touch canary)',
  '`touch canary`',
  '\x24{x:-$(touch canary)}',
  '\\',
  "\\'; touch canary #",
  '; touch canary',
  '&& touch canary',
  '| touch canary',
  '> canary',
  ') ; touch canary',
  '}; touch canary',
  '# touch canary',
  '*',
  '~',
  '$HOME',
  '{}',
  '!!',
  '-n',
  'ünï 日本 🚀',
  '$1 \\1 $& $$',
];

/** Each template with what its command prints for a line. */
const VALID_TEMPLATES: [template: string, prints: (line: string) => string][] = [
  ['printf %s {}', (line) => line],
  ["printf '%s|%s' {} {}.png", (line) => `${line}|${line}.png`],
  ['x={}; printf %s "$x"', (line) => line],
  ['(printf %s {})', (line) => line],
  ['printf "%s" "$(printf %s {})"', (line) => line],
  ["printf '%s' \"a'$(printf %s {})'b\"", (line) => `a'${line}'b`],
  ["true # don't {\nprintf %s {}", (line) => line],
  ["printf '%s %s' \\{} {}", (line) => `{} ${line}`],
  ['printf "%s" \\"{}', (line) => `"${line}`],
  ['printf "%s" "$((1 + 2))\x24{x}"{}', (line) => `3${line}`],
  ['case a in (a) printf %s {};; esac', (line) => line],
  ['case a in a) printf %s {};; esac', (line) => line],
];

describe('a line is one word and never shell syntax', () => {
  test.each(VALID_TEMPLATES)('in the template %s', (template, prints) =>
    inTempDir((dir) => {
      const make = compileTemplate(template);
      for (const line of HOSTILE_LINES) {
        const { stdout, stderr, status } = spawnSync('/bin/sh', ['-c', make(line)], {
          cwd: dir,
          encoding: 'utf8',
        });
        expect({ line, stdout, stderr, status }).toEqual({
          line,
          stdout: prints(line),
          stderr: '',
          status: 0,
        });
        expect(existsSync(join(dir, 'canary'))).toBe(false);
      }
    }),
  );
});

test.each([
  ['echo', 'does not contain {}'],
  ['', 'does not contain {}'],
  ['echo \\{}', 'does not contain {}'],
  ["echo '{}'", 'outside quotes'],
  ['echo "{}"', 'outside quotes'],
  ['echo "a $(b "c {}")"', 'outside quotes'],
  ['echo "$(b) {}"', 'outside quotes'],
  ["echo '{} unclosed", 'outside quotes'],
  ['echo x # {}', 'outside quotes'],
  ["# don't\necho '{}'", 'outside quotes'],
  ['echo \x24{}', 'outside quotes'],
  ['echo \x24{x:-{}}', 'outside quotes'],
  ['echo $(({} + 1))', 'outside quotes'],
  ['echo \x24{x:-"} {}', 'cannot contain'],
  ['echo `echo {}`', 'cannot contain backticks'],
  ['cat <<X\n{}\nX', 'cannot contain a here-document'],
  ["echo $'a\\'{}'", "cannot contain $'"],
  ['echo "$(case a in a) echo "{}";; esac)"', 'cannot contain case'],
])('the template %s is refused: %s', (template, problem) => {
  const error = errorOf(() => compileTemplate(template));
  expect(error.message).toContain(problem);
  expect(error.exitCode).toBe(2);
});
