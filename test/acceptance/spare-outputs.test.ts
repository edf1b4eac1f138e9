import { expect, test } from 'bun:test';
import { closeSync, existsSync, openSync, readSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cLibrary } from '../../src/files/c-library.ts';
import { enqueue, inSandbox, lines, until, untilState } from '../support/queuectl.ts';

const waitFor = (file: string): string => `until test -e '${file}'; do sleep 0.02; done`;

test.skipIf(cLibrary() === null)(
  'silent jobs use the same output files one after the other',
  inSandbox(async (box) => {
    const witness = join(box.directory, 'files');
    for (let i = 0; i < 10; i++)
      await enqueue(box, `j${i}`, `stat -L -c '%i %w' /proc/$$/fd/2 >>'${witness}'`);
    await box.startWorkers('--count', '1', '--concurrency', '1', '--drain').then(({ exit }) => exit);
    expect(lines(witness)).toHaveLength(10);
    expect(new Set(lines(witness)).size).toBeLessThan(10);
  }),
);

test.skipIf(cLibrary() === null)(
  'a process that a job left behind cannot write to the output of another job',
  inSandbox(async (box) => {
    const at = (name: string): string => join(box.directory, name);
    await box.startWorkers('--count', '1', '--concurrency', '1');
    // The process leaves the session and the group of its job, and opens the output a second time.
    const leftover = `${waitFor(at('speak'))}; echo late; echo late >&7; touch '${at('said')}'`;
    await enqueue(
      box,
      'leaving',
      `setsid sh -c "exec 7>>/proc/self/fd/1; ${leftover}" & touch '${at('left')}'`,
    );
    await untilState(box, 'leaving', 'completed');
    await enqueue(box, 'next', `touch '${at('runs')}'; ${waitFor(at('end'))}; echo mine`);
    await until(() => existsSync(at('runs')), 'the next job runs');
    writeFileSync(at('speak'), '');
    await until(() => existsSync(at('said')), 'the process has written');
    writeFileSync(at('end'), '');
    await untilState(box, 'next', 'completed');
    expect((await box.run(['logs', 'next'])).stdout).toBe('mine\n');
  }),
);

test.skipIf(cLibrary() === null)(
  'a reader of an ended job does not see the output of another job',
  inSandbox(async (box) => {
    const at = (name: string): string => join(box.directory, name);
    await box.startWorkers('--count', '1', '--concurrency', '1');
    await enqueue(box, 'silent', `readlink /proc/$$/fd/2 >'${at('path')}'; ${waitFor(at('go'))}`);
    await until(() => lines(at('path')).length > 0, 'the silent job runs');
    const reader = openSync(lines(at('path'))[0]!, 'r');
    writeFileSync(at('go'), '');
    await untilState(box, 'silent', 'completed');
    await enqueue(box, 'next', 'echo mine');
    await untilState(box, 'next', 'completed');
    const buffer = Buffer.alloc(10);
    expect(readSync(reader, buffer, 0, 10, 0)).toBe(0);
    closeSync(reader);
  }),
);
