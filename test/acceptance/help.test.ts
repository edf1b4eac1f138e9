import { afterAll, expect, test } from 'bun:test';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sandbox, until } from '../support/queuectl.ts';
import { onTerminal } from '../support/terminal.ts';

const box = sandbox();
afterAll(() => box.cleanup());

const pagedTextFile = join(box.directory, 'paged');
const pager = join(box.directory, 'pager');
writeFileSync(pager, `#!/bin/sh\ncat >'${pagedTextFile}'\necho in the pager\n`);
chmodSync(pager, 0o755);

async function shownOnTerminal(args: string[], env: Record<string, string>, rows = 24, columns = 80) {
  const terminal = onTerminal(box, args, rows, columns, { env });
  expect(await terminal.closed).toBe(0);
  return terminal.output().replaceAll('\r\n', '\n');
}

test('help longer than the screen opens in the pager, and shorter help is printed directly', async () => {
  expect(await shownOnTerminal(['help'], { QUEUECTL_PAGER: pager, PAGER: 'cat' })).toBe('in the pager\n');
  expect(readFileSync(pagedTextFile, 'utf8')).toContain('\n  enqueue');
  expect(await shownOnTerminal(['enqueue', '--help'], { PAGER: pager })).toBe('in the pager\n');
  expect(await shownOnTerminal(['help', 'version'], { PAGER: pager })).toContain('Print the version\n');
});

test('Ctrl-C is left to the pager and does not end queuectl', async () => {
  const patient = join(box.directory, 'patient');
  writeFileSync(
    patient,
    "#!/bin/sh\ntrap 'echo interrupted; exit 0' INT\ncat >/dev/null\necho ready\nread line </dev/tty\n",
  );
  chmodSync(patient, 0o755);
  const terminal = onTerminal(box, ['help'], 24, 80, { env: { PAGER: patient } });
  await until(() => terminal.output().includes('ready'), 'the pager runs');
  terminal.interrupt();
  expect(await terminal.closed).toBe(0);
  expect(terminal.output()).toContain('interrupted');
});

test('help is printed directly with --no-pager, an empty or missing pager, cat, or no terminal', async () => {
  const jobs = '\nJobs:\n';
  expect(await shownOnTerminal(['help', '--no-pager'], { PAGER: pager })).toContain(jobs);
  expect(await shownOnTerminal(['enqueue', '--help', '--no-pager'], { PAGER: pager })).toContain(
    '\nExamples:\n',
  );
  expect(await shownOnTerminal(['help'], { QUEUECTL_PAGER: '', PAGER: pager })).toContain(jobs);
  expect(await shownOnTerminal(['help'], { PAGER: 'cat' })).toContain(jobs);
  expect(await shownOnTerminal(['help'], { PAGER: '/no/such/pager' })).toContain(jobs);
  expect((await box.run(['help'], { env: { PAGER: pager } })).stdout).toContain(jobs);
});

test('help is wrapped at the width of the terminal, or in a pipe at COLUMNS or 80, and at 100 columns at most', async () => {
  const widthOf = (text: string): number => Math.max(...text.split('\n').map((line) => line.length));
  const wide = await shownOnTerminal(['help', 'filters'], { PAGER: '' }, 24, 140);
  expect(widthOf(wide)).toBeGreaterThan(90);
  expect(widthOf(wide)).toBeLessThanOrEqual(100);
  // Examples and terms are not wrapped, so lines may be wider than a narrow terminal.
  expect(widthOf(await shownOnTerminal(['help', 'exit-codes'], { PAGER: '' }, 24, 50))).toBeLessThanOrEqual(
    60,
  );
  expect(widthOf((await box.run(['help', 'filters'])).stdout)).toBeLessThanOrEqual(80);
  expect(widthOf((await box.run(['help', 'filters'], { env: { COLUMNS: '95' } })).stdout)).toBeGreaterThan(
    80,
  );
});

test('help has colors only if they are enabled', async () => {
  expect((await box.run(['help', 'enqueue'])).stdout).not.toContain('\x1b');
  for (const args of [['help', 'enqueue'], ['enqueue', '--help'], ['help']]) {
    const { stdout } = await box.run([...args, '--color', 'always']);
    expect(stdout).toContain('\x1b[1mUsage:\x1b[0m');
    expect(stdout).toMatch(/\x1b\[36m *(-h, )?--(help|id ID|db PATH)/);
  }
});

test('help does not create a store', () => {
  // The tests above have run in the same sandbox.
  expect(existsSync(box.home)).toBe(false);
});

test.each([
  ['help exitcodes', "did you mean 'exit-codes'"],
  ['help setting', "did you mean 'config'"],
  ['exit-codes', 'to read about this topic: queuectl help exit-codes'],
  ['help enqueue extra', "unexpected argument 'extra'"],
])('%s is refused with an explanation', async (line, message) => {
  const { code, stdout, stderr } = await box.run(line.split(' '));
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(message);
});
