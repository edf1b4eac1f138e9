/** Tests that the search for secrets in commands delays neither the command itself nor other writers. */
import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inSandbox, type Sandbox } from '../support/queuectl.ts';

const LINES = 20;
/** Every `=` starts another value, and each value extends to the end of the line. */
const HOSTILE = `token ${'=a'.repeat(60_000)}\n`;
const HARMLESS = `echo  ${'-a'.repeat(60_000)}\n`;

async function enqueueTime(box: Sandbox, line: string): Promise<number> {
  const file = join(box.directory, 'jobs.txt');
  writeFileSync(file, line.repeat(LINES));
  const start = performance.now();
  expect((await box.run(['enqueue', '--quiet', '--file', file])).code).toBe(0);
  return performance.now() - start;
}

test(
  'a file of hostile commands takes about as long as one of harmless commands',
  inSandbox(async (box) => {
    const times = async (line: string): Promise<number> =>
      Math.min(await enqueueTime(box, line), await enqueueTime(box, line));
    const harmless = await times(HARMLESS);
    expect(await times(HOSTILE)).toBeLessThan(10 * harmless + 2000);
  }),
);

test(
  'other processes can enqueue while a file of hostile commands is stored',
  inSandbox(async (box) => {
    await box.create();
    const file = join(box.directory, 'jobs.txt');
    writeFileSync(file, HOSTILE.repeat(LINES));
    const long = box.start(['enqueue', '--quiet', '--file', file]);
    const codes: number[] = [];
    let over = false;
    void long.exit.then(() => {
      over = true;
    });
    do codes.push((await box.run(['enqueue', 'true'])).code);
    while (!over);
    expect(await long.exit).toBe(0);
    expect(new Set(codes)).toEqual(new Set([0]));
  }),
);

test(
  'enqueue warns of a secret in a single command and among the first commands of a file',
  inSandbox(async (box) => {
    const secret = 'login --password hunter2';
    for (const args of [[secret], ['--file', '-']]) {
      const { stderr } = await box.run(['enqueue', ...args], { stdin: `true\n${secret}\n` });
      expect(stderr).toContain('warning: the command seems to contain a secret (--password)');
      expect(stderr).not.toContain('hunter2');
    }
  }),
);
