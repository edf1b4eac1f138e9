import { expect, test as plainTest } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathWord, shellWord } from '../../src/core/text/shell-quote.ts';
import { serve } from '../support/http.ts';
import { configure, enqueue, inSandbox, type Result, type Sandbox } from '../support/queuectl.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';

const HOSTILE = [
  '$(touch pwned)',
  "it's; touch pwned",
  '`touch pwned` a',
  'a>pwned',
  '*',
  '~root',
  '=ls',
  '\\',
  '!!',
];

/** Pastes a command into bash, where `queuectl` prints its arguments, and returns them. */
function paste(command: string, directory?: string): string[] {
  const script = `queuectl() { printf '%s\\0' "$@"; }; mkdir() { queuectl "$@"; }; ${command}`;
  const { stdout } = spawnSync('bash', ['-c', script], { cwd: directory, encoding: 'utf8' });
  return stdout.split('\0').slice(0, -1);
}

plainTest(
  'a word for a shell keeps every character when it is pasted, and shows no control characters',
  () => {
    for (const text of [
      ...HOSTILE,
      '',
      '-rf',
      'a b',
      'x\n$(touch pwned)',
      "\x1b[201~\r'\\",
      '\u202ea\u200b',
      'ü€😀',
    ]) {
      const word = shellWord(text);
      expect({ text, pasted: paste(`queuectl ${word}`) }).toEqual({ text, pasted: [text] });
      expect(word).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    }
    expect([pathWord('-rf'), pathWord('a/-b'), shellWord('2030-01-31T09:00Z')]).toEqual([
      './-rf',
      'a/-b',
      '2030-01-31T09:00Z',
    ]);
  },
);

/** Expects that the commands in a text have one of these words among their arguments when they are pasted, and run nothing else. */
function expectWord(box: Sandbox, { stdout, stderr }: Result, ...expected: string[]): void {
  const text = stdout + stderr;
  const pasted = [...text.matchAll(/: ((?:queuectl|mkdir) .*)/g)].map(([, line]) =>
    paste(line!, box.directory),
  );
  expect({
    text,
    has: pasted.length > 0 && pasted.every((words) => expected.some((word) => words.includes(word))),
  }).toEqual({
    text,
    has: true,
  });
  expect({ text, ran: existsSync(join(box.directory, 'pwned')) }).toEqual({ text, ran: false });
}

plainTest(
  'hints can be pasted if an id, a queue or a path contains shell syntax',
  inSandbox(async (box) => {
    await configure(box, { 'max-retries': '1' });
    await box.startWorkers('--queue', 'other');
    for (const [i, id] of HOSTILE.slice(0, 3).entries()) {
      const queue = `q${id}`;
      await enqueue(box, id, 'true', { queue });
      for (const args of [
        ['retry', id],
        ['logs', '--path', id],
        ['wait', '--timeout', '1ms', id],
        ['status', id],
      ])
        expectWord(box, await box.run(args), id, queue);
      expectWord(box, await box.run(['explain', id]), id, queue);
      await box.run(['queue', 'pause', queue]);
      expectWord(box, await box.run(['explain', id]), id, queue);
      await box.run(['queue', 'resume', queue]);
      expectWord(box, await box.run(['queue', 'delete', queue]), queue);
      await box.run(['cancel', id]);
      expectWord(box, await box.run(['explain', id]), id);
      expectWord(box, await box.run(['cancel', id]), id);
      const directory = join(box.directory, `d${i}${id}`);
      expectWord(box, await box.run(['--db', `${directory}/queue.db`, 'enqueue', 'true']), directory);
    }
  }),
  60_000,
);

test('explanations of the API can be pasted, too', async (box) => {
  const { call } = await serve(box);
  await box.startWorkers('--queue', 'other');
  for (const text of HOSTILE.slice(0, 3)) {
    await enqueue(box, text, 'true', { queue: text });
    const job = `/api/v1/jobs/${encodeURIComponent(text)}`;
    const [noWorker] = (await call('GET', `${job}/explain`)).json.reasons;
    await call('POST', `${job}/hold`);
    const [held] = (await call('GET', `${job}/explain`)).json.reasons;
    await call('POST', `${job}/cancel`);
    const [ended] = (await call('GET', `${job}/explain`)).json.reasons;
    for (const reason of [noWorker, held, ended])
      expectWord(box, { code: 0, stdout: reason, stderr: '' }, text);
  }
});
