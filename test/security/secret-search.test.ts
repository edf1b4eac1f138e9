/** Tests that the search for secrets in commands finds them, and delays neither the enqueue nor other writers. */
import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inSandbox, type Sandbox } from '../support/queuectl.ts';

const LINE_COUNT = 20;
/** Every `=` starts another value, and each value extends to the end of the line. */
const HOSTILE_LINE = `token ${'=a'.repeat(60_000)}\n`;
const HARMLESS_LINE = `echo  ${'-a'.repeat(60_000)}\n`;

async function timeToEnqueue(box: Sandbox, line: string): Promise<number> {
  const file = join(box.directory, 'jobs.txt');
  writeFileSync(file, line.repeat(LINE_COUNT));
  const start = performance.now();
  expect((await box.run(['enqueue', '--quiet', '--file', file])).code).toBe(0);
  return performance.now() - start;
}

test(
  'a file of hostile commands takes at most about ten times as long as one of harmless commands',
  inSandbox(async (box) => {
    const bestTime = async (line: string): Promise<number> =>
      Math.min(await timeToEnqueue(box, line), await timeToEnqueue(box, line));
    const harmless = await bestTime(HARMLESS_LINE);
    expect(await bestTime(HOSTILE_LINE)).toBeLessThan(10 * harmless + 2000);
  }),
);

test(
  'other processes can enqueue while a file of hostile commands is stored',
  inSandbox(async (box) => {
    await box.create();
    const file = join(box.directory, 'jobs.txt');
    writeFileSync(file, HOSTILE_LINE.repeat(LINE_COUNT));
    const slowEnqueue = box.start(['enqueue', '--quiet', '--file', file]);
    const codes: number[] = [];
    let hasEnded = false;
    void slowEnqueue.exit.then(() => {
      hasEnded = true;
    });
    do codes.push((await box.run(['enqueue', 'true'])).code);
    while (!hasEnded);
    expect(await slowEnqueue.exit).toBe(0);
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
