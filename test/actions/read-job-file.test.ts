import { describe, expect, test } from 'bun:test';
import { readJobFile } from '../../src/actions/jobs/parse-jobs.ts';
import type { JobInput } from '../../src/core/jobs/job-input.ts';
import { compileTemplate } from '../../src/core/jobs/template.ts';
import { errorOf } from '../support/error-of.ts';

const NOW = Date.UTC(2030, 0, 15, 12);

/** The sizes of the chunks, in characters. The result must not depend on them. */
const CHUNK_SIZES = [1, 7, Number.MAX_SAFE_INTEGER];

function chunksOf(text: string, size: number): string[] {
  const parts: string[] = [];
  for (let at = 0; at < text.length; at += size) parts.push(text.slice(at, at + size));
  return parts;
}

function inputs(text: string, template: string | null = null): JobInput[] {
  const compiled = template === null ? null : compileTemplate(template);
  const all = CHUNK_SIZES.map((size) =>
    [...readJobFile(chunksOf(text, size), compiled, NOW)].map((job) => job.input),
  );
  for (const other of all) expect(other).toEqual(all[0]!);
  return all[0]!;
}

const commands = (text: string, template?: string) => inputs(text, template).map((input) => input.command);

function refusalOf(text: string) {
  const errors = CHUNK_SIZES.map((size) => errorOf(() => [...readJobFile(chunksOf(text, size), null, NOW)]));
  for (const other of errors) expect(other.message).toBe(errors[0]!.message);
  return errors[0]!;
}

describe('a file is read the same, wherever its chunks end', () => {
  test.each([
    ['a JSON array', '[{"command":"a"},\n {"command":"b"}]\n'],
    ['JSON lines', '{"command":"a"}\n{"command":"b"}\n'],
    ['JSON lines with blank lines between them', '\n{"command":"a"}\n\n  {"command":"b"}'],
    ['one command per line', 'a\nb\n'],
    ['a file without a last newline', 'a\nb'],
    ['commands with comments', '# the jobs\na\n  # more\nb\n'],
    ['commands and JSON mixed', 'a\n{"command":"b"}\n'],
  ] as const)('%s: two jobs are read, with LF and with CRLF', (_, text) => {
    const crlf = text.replaceAll('\n', '\r\n');
    for (const variant of [text, crlf]) expect(commands(variant)).toEqual(['a', 'b']);
  });

  test('one object over several lines is one job', () => {
    expect(inputs('{\n  "id": "a",\n  "command": "x"\n}\n')).toEqual([{ id: 'a', command: 'x' }]);
  });

  test('several objects over several lines, as jq prints them, are several jobs', () => {
    const text = '{\n  "command": "echo }{ \\"\\\\\\" [",\n  "tags": {"a": "]"}\n}\n{\n  "command": "b"\n}\n';
    expect(inputs(text)).toEqual([{ command: 'echo }{ "\\" [', tags: { a: ']' } }, { command: 'b' }]);
  });

  test('an array on one line may have brackets, commas and quotes in its strings', () => {
    const jobs = [{ command: 'a,[{"' }, { command: ']},\\"' }, { argv: ['x', ','] }, { command: '\\' }];
    expect(inputs(JSON.stringify(jobs))).toEqual(jobs);
  });

  test('a job of more than 16 MiB, or an array of more than 64 MiB, is refused before memory runs out', () => {
    const endless = (start: string): Iterable<string> => ({
      *[Symbol.iterator]() {
        yield start;
        for (;;) yield 'x'.repeat(1 << 20);
      },
    });
    for (const start of ['true\n', '{\n"command":"'])
      expect(errorOf(() => [...readJobFile(endless(start), null, NOW)]).message).toContain('16 MiB');
    const error = errorOf(() => [...readJobFile(endless('[{"command":"'), null, NOW)]);
    expect(error.message).toBe('the JSON array is larger than 64 MiB');
    expect(error.hint).toContain('one job per line');
  });

  test('a command keeps its quotes, inner spaces and braces', () => {
    expect(commands(`echo 'a  b' {}\n"x" y\n`)).toEqual([`echo 'a  b' {}`, '"x" y']);
  });

  test.each([
    ['', 'there are no jobs in this file'],
    ['\r\n \n# nothing\n', 'there are no jobs in this file'],
    ['[]', 'there are no jobs in this file'],
    ['[{"command":"a"},]', 'this is not valid JSON'],
    ['[,]', 'this is not valid JSON'],
    ['[{"command":"a"}', 'this is not valid JSON'],
    ['[{"command":"a"}] x', 'this is not valid JSON'],
    ['[{"command":"a"}][{"command":"b"}]', 'this is not valid JSON'],
    ['{\n"command":"a"\n}\n{\n"command":5\n}', 'line 4: command must be a string, not a number'],
    ['{\n"command":"a"\n', 'line 1 is not valid JSON'],
    ['[null]', 'job 1: a job must be a JSON object, not null'],
    ['{}', 'line 1: command is missing'],
    ['{"command":"a"}\n\n{}\n', 'line 3: command is missing'],
    ['a\n[1]\n', 'line 2: a job must be a JSON object, not an array'],
    ['a\n# b\n{"command":""}', 'line 3: command must not be empty'],
    ['a\nb\0\n', 'line 2: command must not contain NUL bytes'],
  ] as const)('%j is refused: %s', (text, message) => {
    expect(refusalOf(text).message).toStartWith(message);
  });

  test('the error about a line that is not valid JSON names the line', () => {
    const error = refusalOf('{"command":"a"}\n{"command":\n');
    expect(error.code).toBe('invalid-json');
    expect(error.message).toStartWith('line 2 is not valid JSON');
  });
});

describe('with a template', () => {
  test('each line becomes one quoted word, and only empty lines are skipped', () => {
    expect(commands("a b\n\n#c\r\n{'d\n", 'x {} {}.png')).toEqual([
      "x 'a b' 'a b'.png",
      "x '#c' '#c'.png",
      "x '{'\\''d' '{'\\''d'.png",
    ]);
  });

  test('a line that makes the command too long or invalid is refused with its number', () => {
    const read = (text: string) =>
      errorOf(() => [...readJobFile([text], compileTemplate('x {}'), NOW)]).message;
    expect(read(`a\n${'b'.repeat(200_000)}\n`)).toMatch(/^line 2: .*limit/);
    expect(read('a\0b\n')).toMatch(/^line 1: .*NUL/);
  });
});
