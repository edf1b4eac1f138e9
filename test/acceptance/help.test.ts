import { afterAll, expect, test } from 'bun:test';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sandbox, until } from '../support/queuectl.ts';
import { onTerminal } from '../support/terminal.ts';

const box = sandbox();
afterAll(() => box.cleanup());

const paged = join(box.directory, 'paged');
const pager = join(box.directory, 'pager');
writeFileSync(pager, `#!/bin/sh\ncat >'${paged}'\necho in the pager\n`);
chmodSync(pager, 0o755);

async function onScreen(args: string[], env: Record<string, string>, rows = 24, columns = 80) {
  const terminal = onTerminal(box, args, rows, columns, { env });
  expect(await terminal.closed).toBe(0);
  return terminal.output().replaceAll('\r\n', '\n');
}

test('help longer than the screen opens in the pager; shorter help does not', async () => {
  expect(await onScreen(['help'], { QUEUECTL_PAGER: pager, PAGER: 'cat' })).toBe('in the pager\n');
  expect(readFileSync(paged, 'utf8')).toContain('\n  enqueue');
  expect(await onScreen(['enqueue', '--help'], { PAGER: pager })).toBe('in the pager\n');
  expect(await onScreen(['help', 'version'], { PAGER: pager })).toContain('Print the version\n');
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
  expect(await onScreen(['help', '--no-pager'], { PAGER: pager })).toContain(jobs);
  expect(await onScreen(['enqueue', '--help', '--no-pager'], { PAGER: pager })).toContain('\nExamples:\n');
  expect(await onScreen(['help'], { QUEUECTL_PAGER: '', PAGER: pager })).toContain(jobs);
  expect(await onScreen(['help'], { PAGER: 'cat' })).toContain(jobs);
  expect(await onScreen(['help'], { PAGER: '/no/such/pager' })).toContain(jobs);
  expect((await box.run(['help'], { env: { PAGER: pager } })).stdout).toContain(jobs);
});

test('help is as wide as the terminal, at most 100 columns, and 80 columns in a pipe', async () => {
  const widest = (text: string): number => Math.max(...text.split('\n').map((line) => line.length));
  const wide = await onScreen(['help', 'filters'], { PAGER: '' }, 24, 140);
  expect(widest(wide)).toBeGreaterThan(90);
  expect(widest(wide)).toBeLessThanOrEqual(100);
  expect(widest(await onScreen(['help', 'filters'], { PAGER: '' }, 24, 50))).toBeLessThanOrEqual(60);
  expect(widest((await box.run(['help', 'filters'])).stdout)).toBeLessThanOrEqual(80);
  expect(widest((await box.run(['help', 'filters'], { env: { COLUMNS: '95' } })).stdout)).toBeGreaterThan(80);
});

test('help has colors only where colors are on', async () => {
  expect((await box.run(['help', 'enqueue'])).stdout).not.toContain('\x1b');
  for (const args of [['help', 'enqueue'], ['enqueue', '--help'], ['help']]) {
    const { stdout } = await box.run([...args, '--color', 'always']);
    expect(stdout).toContain('\x1b[1mUsage:\x1b[0m');
    expect(stdout).toMatch(/\x1b\[36m *(-h, )?--(help|id ID|db PATH)/);
  }
});

test('help creates nothing', () => {
  expect(existsSync(box.home)).toBe(false);
});

test.each([
  [['help', 'exitcodes'], "did you mean 'exit-codes'"],
  [['help', 'setting'], "did you mean 'config'"],
  [['exit-codes'], 'to read about this topic: queuectl help exit-codes'],
  [['help', 'enqueue', 'extra'], "unexpected argument 'extra'"],
])('%p is refused with a suggestion', async (args, says) => {
  const { code, stdout, stderr } = await box.run(args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(says);
});

test('FORCE_COLOR=0 turns colors off, and status obeys --color always', async () => {
  const status = async (args: string[], FORCE_COLOR: string) =>
    (await box.run(['status', ...args], { env: { FORCE_COLOR, NO_COLOR: '' } })).stdout;
  expect(await status([], '1')).toContain('\x1b[');
  expect(await status([], '0')).not.toContain('\x1b[');
  expect(await status(['--color', 'always'], '')).toContain('\x1b[');
});

test('with --json, a warning on stderr is a JSON object', async () => {
  const { stderr } = await box.run(['enqueue', '--json', 'mysql --password=hunter2']);
  expect(JSON.parse(stderr).warning.message).toContain('--password');
});

test('after no to a question, and after an edit without a change, one line says so', async () => {
  for (const id of ['n1', 'n2']) await box.run(['enqueue', '--queue', 'no', '--id', id, 'true']);
  const asked = onTerminal(box, ['cancel', '--queue', 'no'], 24, 80, { env: { CI: '' } });
  await until(() => asked.output().includes('[y/N]'), 'the question');
  asked.type('n\r');
  expect(await asked.closed).toBe(1);
  expect(asked.output()).toContain('nothing was changed');
  const edited = onTerminal(box, ['edit', 'n1'], 24, 80, { env: { EDITOR: 'true', VISUAL: '' } });
  expect(await edited.closed).toBe(0);
  expect(edited.output()).toBe('nothing was changed\r\n');
});

test('says that it could not open a browser', async () => {
  const serving = box.start(['serve', '--port', '0', '--open'], { env: { PATH: box.directory } });
  await until(() => serving.output().includes('could not open a browser'), 'the warning');
  serving.child.kill('SIGTERM');
  await serving.closed;
});
