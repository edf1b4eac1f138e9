import { describe, expect, test } from 'bun:test';
import { looksLikeJson, readCommand, readJobFile, readJsonJobs } from '../../src/actions/read-jobs.ts';
import { caught } from '../support/caught.ts';

const NOW = Date.UTC(2030, 0, 15, 12);
const BOM = '\uFEFF';
const commands = (text: string) => readJobFile(text, NOW).inputs.map((input) => input.command);

describe('what begins with { or [ is JSON, everything else a command', () => {
  test.each([
    ['{"command":"x"}', true],
    [' \n[', true],
    ['{ echo; }', true],
    ['[ -f x ] && y', true],
    ['echo {}', false],
    ['"x"', false],
    ['', false],
  ] as const)('%j: %p', (text, json) => {
    expect(looksLikeJson(text)).toBe(json);
  });

  test('a command is kept as it is, a blank one refused', () => {
    expect(readCommand(" echo 'a'\n b ")).toEqual({ command: " echo 'a'\n b " });
    expect(caught(() => readCommand(' \n')).code).toBe('invalid-job');
  });
});

describe('JSON on the command line', () => {
  test('one object, or an array in its order', () => {
    expect(readJsonJobs('{"id":"a","command":"x"}', NOW).inputs).toEqual([{ id: 'a', command: 'x' }]);
    expect(readJsonJobs('[{"command":"x"},{"argv":["y"]}]', NOW).inputs).toEqual([
      { command: 'x' },
      { argv: ['y'] },
    ]);
  });

  test.each([
    ['[]', 'the array holds no job'],
    ['[null]', 'job 1: a job must be a JSON object, not null'],
    ['["x"]', 'job 1: a job must be a JSON object, not a string'],
    ['[[]]', 'job 1: a job must be a JSON object, not an array'],
    ['{}', 'command is missing'],
    ['{"command":null}', 'command is missing'],
    ['[{"command":"x"},{}]', 'job 2: command is missing'],
    ['[{"command":"x"},{"command":"y"},{"command":5}]', 'job 3: command must be a string, not a number'],
    ['[{"command":"x"},{"command":"y","delay":"soon"}]', "job 2: delay: 'soon' is not a duration"],
  ] as const)('%s: %s', (text, message) => {
    expect(caught(() => readJsonJobs(text, NOW)).message).toBe(message);
  });

  test('the code and hint of the real mistake survive the position', () => {
    const error = caught(() => readJsonJobs('[{"command":"x","delay":"soon"}]', NOW));
    expect(error.code).toBe('invalid-duration');
    expect(error.hint).toContain('500ms');
  });

  test.each([['{'], ['{"command":}'], ["{'command':'x'}"], ['{ echo; }'], ['[1,]'], ['{"a":1} x']] as const)(
    '%s does not parse, and the hint names --command',
    (text) => {
      const error = caught(() => readJsonJobs(text, NOW));
      expect(error.code).toBe('invalid-json');
      expect(error.hint).toContain('--command');
    },
  );

  test('a warning names its position in an array', () => {
    const { warnings } = readJsonJobs('[{"command":"x"},{"command":"y","quue":"q"}]', NOW);
    expect(warnings).toEqual(["job 2: unknown field 'quue' was ignored; did you mean 'queue'?"]);
  });
});

describe('a file', () => {
  test.each([
    ['a JSON array', '[{"command":"a"},\n {"command":"b"}]\n'],
    ['JSON lines', '{"command":"a"}\n{"command":"b"}\n'],
    ['JSON lines with blank ones', '\n{"command":"a"}\n\n  {"command":"b"}'],
    ['a command a line', 'a\nb\n'],
    ['no last newline', 'a\nb'],
    ['a comment', '# the jobs\na\n  # more\nb\n'],
    ['commands and JSON mixed', 'a\n{"command":"b"}\n'],
  ] as const)('%s, with BOM, with CRLF, with both', (_, text) => {
    const crlf = text.replaceAll('\n', '\r\n');
    for (const variant of [text, BOM + text, crlf, BOM + crlf]) expect(commands(variant)).toEqual(['a', 'b']);
  });

  test('one object over many lines is one job', () => {
    expect(readJobFile('{\n  "id": "a",\n  "command": "x"\n}\n', NOW).inputs).toEqual([
      { id: 'a', command: 'x' },
    ]);
  });

  test('a command keeps its quotes, inner spaces and braces', () => {
    expect(commands(`echo 'a  b' {}\n"x" y\n`)).toEqual([`echo 'a  b' {}`, '"x" y']);
  });

  test.each([
    ['', 'there is no job in this file'],
    ['\r\n \n# nothing\n', 'there is no job in this file'],
    ['[]', 'the array holds no job'],
    ['[null]', 'job 1: a job must be a JSON object, not null'],
    ['{}', 'command is missing'],
    ['{"command":"a"}\n\n{}\n', 'line 3: command is missing'],
    ['a\n[1]\n', 'line 2: a job must be a JSON object, not an array'],
    ['a\n# b\n{"command":""}', 'line 3: command must not be empty'],
    ['a\nb\0\n', 'line 2: command must not contain NUL bytes'],
  ] as const)('%j: %s', (text, message) => {
    expect(caught(() => readJobFile(text, NOW)).message).toBe(message);
  });

  test('a line that does not parse is named', () => {
    const error = caught(() => readJobFile('{"command":"a"}\n{"command":\n', NOW));
    expect(error.code).toBe('invalid-json');
    expect(error.message).toStartWith('line 2 is not valid JSON');
  });
});

describe('10,000 levels and more are refused, without a stack overflow', () => {
  const deep = '['.repeat(10_000) + ']'.repeat(10_000);
  test.each([
    ['an array', deep],
    ['a known field', `{"command":"x","tags":${deep}}`],
    ['an unknown field', `{"command":"x","extra":${deep}}`],
    ['an array that would exhaust the stack', '['.repeat(200_000) + ']'.repeat(200_000)],
    ['an unclosed array', '['.repeat(10_000)],
    ['a field nested in objects', `{"command":"x","extra":${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}}`],
  ] as const)('%s', (_, text) => {
    for (const read of [readJsonJobs, readJobFile]) expect(caught(() => read(text, NOW)).exitCode).toBe(2);
  });

  test('what a person writes by hand is far from the limit', () => {
    expect(readJsonJobs('[{"command":"x","extra":[[[[{"a":[1]}]]]]}]', NOW).inputs).toHaveLength(1);
  });
});
