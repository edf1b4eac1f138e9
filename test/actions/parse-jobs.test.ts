import { describe, expect, test } from 'bun:test';
import { looksLikeJson, readCommand } from '../../src/actions/jobs/enqueue.ts';
import { readJobFile, readJsonJobs } from '../../src/actions/jobs/parse-jobs.ts';
import { errorOf } from '../support/error-of.ts';

const NOW = Date.UTC(2030, 0, 15, 12);

describe('text that begins with { or [ is JSON, and other text is a command', () => {
  test.each([
    ['{"command":"x"}', true],
    [' \n[', true],
    ['{ echo; }', true],
    ['[ -f x ] && y', true],
    ['echo {}', false],
    ['"x"', false],
    ['', false],
  ] as const)('looksLikeJson(%j) is %p', (text, isJson) => {
    expect(looksLikeJson(text)).toBe(isJson);
  });

  test('readCommand keeps a command unchanged, and refuses a blank one', () => {
    expect(readCommand(" echo 'a'\n b ")).toEqual({ command: " echo 'a'\n b " });
    expect(errorOf(() => readCommand(' \n')).code).toBe('invalid-job');
  });
});

describe('readJsonJobs', () => {
  test('JSON may be one object, or an array, whose order is kept', () => {
    expect(readJsonJobs('{"id":"a","command":"x"}', NOW).inputs).toEqual([{ id: 'a', command: 'x' }]);
    expect(readJsonJobs('[{"command":"x"},{"argv":["y"]}]', NOW).inputs).toEqual([
      { command: 'x' },
      { argv: ['y'] },
    ]);
  });

  test.each([
    ['[]', 'there are no jobs in the array'],
    ['[null]', 'job 1: a job must be a JSON object, not null'],
    ['["x"]', 'job 1: a job must be a JSON object, not a string'],
    ['[[]]', 'job 1: a job must be a JSON object, not an array'],
    ['{}', 'command is missing'],
    ['{"command":null}', 'command is missing'],
    ['[{"command":"x"},{}]', 'job 2: command is missing'],
    ['[{"command":"x"},{"command":"y"},{"command":5}]', 'job 3: command must be a string, not a number'],
    ['[{"command":"x"},{"command":"y","delay":"soon"}]', "job 2: delay: invalid duration 'soon'"],
  ] as const)('%s is refused: %s', (text, message) => {
    expect(errorOf(() => readJsonJobs(text, NOW)).message).toBe(message);
  });

  test('an error in an array keeps its own code and hint', () => {
    const error = errorOf(() => readJsonJobs('[{"command":"x","delay":"soon"}]', NOW));
    expect(error.code).toBe('invalid-duration');
    expect(error.hint).toContain('500ms');
  });

  test.each([['{'], ['{"command":}'], ["{'command':'x'}"], ['{ echo; }'], ['[1,]'], ['{"a":1} x']] as const)(
    '%s does not parse, and the hint suggests --command',
    (text) => {
      const error = errorOf(() => readJsonJobs(text, NOW));
      expect(error.code).toBe('invalid-json');
      expect(error.hint).toContain('--command');
    },
  );

  test('a warning about a job in an array names the position of the job', () => {
    const { warnings } = readJsonJobs('[{"command":"x"},{"command":"y","quue":"q"}]', NOW);
    expect(warnings).toEqual(["job 2: unknown field 'quue' was ignored; did you mean 'queue'?"]);
  });
});

describe('JSON that is nested too deeply is refused without a stack overflow', () => {
  const deep = '['.repeat(10_000) + ']'.repeat(10_000);
  test.each([
    ['an array', deep],
    ['a known field', `{"command":"x","tags":${deep}}`],
    ['an unknown field', `{"command":"x","extra":${deep}}`],
    ['an array that would exhaust the stack', '['.repeat(200_000) + ']'.repeat(200_000)],
    ['an unclosed array', '['.repeat(10_000)],
    ['a field nested in objects', `{"command":"x","extra":${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}}`],
  ] as const)('%s', (_, text) => {
    expect(errorOf(() => readJsonJobs(text, NOW)).exitCode).toBe(2);
    expect(errorOf(() => [...readJobFile([text], null, NOW)]).exitCode).toBe(2);
  });

  test('ordinary nesting is accepted', () => {
    expect(readJsonJobs('[{"command":"x","extra":[[[[{"a":[1]}]]]]}]', NOW).inputs).toHaveLength(1);
  });
});
