import { expect } from 'bun:test';
import { readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { enqueue, type JobJson, type Sandbox, until } from '../support/queuectl.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';
import { renderScreen } from '../support/screen.ts';
import { onTerminal } from '../support/terminal.ts';

const TAB = '\t';
const ENTER = '\r';
/** Matches the output of `stty -a` when line editing and echo are on. */
const NORMAL_MODE = /[^-]icanon[\s\S]*[^-]echo /;

/** Opens `top` on a terminal. `shows` waits until all given texts are on the screen. */
function openTop(box: Sandbox, rows = 24, columns = 80, more: Parameters<typeof onTerminal>[4] = {}) {
  const top = onTerminal(box, ['top'], rows, columns, more);
  const screen = () => renderScreen(top.stdout(), rows, columns);
  const line = (text: string) => screen().lines.find((one) => one.includes(text));
  const shows = (...texts: string[]) =>
    until(() => texts.every((text) => line(text) !== undefined), `it shows ${texts.join(', ')}`).catch(
      (error) => {
        throw new Error(`${error.message}\n${screen().lines.join('\n')}`);
      },
    );
  return { ...top, screen, line, shows };
}

const stateOf = async (box: Sandbox, id: string) => (await box.json<JobJson>(['show', id])).state;

test('top shows running, failed and waiting jobs and obeys keys', async (box) => {
  await enqueue(box, 'broken', 'test -e fixed || { echo no such bucket; exit 3; }', { max_retries: 1 });
  const workers = await box.startWorkers('--concurrency', '2');
  await until(async () => (await stateOf(box, 'broken')) === 'dead', 'the job is dead');
  const top = openTop(box, 30, 100);
  await top.shows('RUNNING 0', 'FAILURES 1', 'exit code 3: no such bucket', 'WORKERS 1');
  expect(top.screen()).toMatchObject({ alternate: true, cursor: false });

  // Changes by other processes appear.
  await enqueue(box, 'long', ": 日本語; printf 'one\\n\\033[31mtwo\\n'; sleep 300");
  await top.shows('> long');
  expect(top.line('> long')).toMatch(/> long +running +\d+s .*default.*日本語/);
  expect(top.line('WORKERS')).toBeDefined();

  // Without colors (NO_COLOR), the output is shown without its color sequences.
  top.type(ENTER);
  await top.shows('following');
  await until(() => top.screen().lines.includes('two'), 'it shows the output');
  top.type('q');
  await top.shows('QUEUES');

  // Answering no changes nothing.
  top.type('c');
  await top.shows('cancel job long? y/n');
  top.type('n');
  await top.shows('no changes made');
  expect(await stateOf(box, 'long')).toBe('processing');
  top.type('cy');
  await top.shows('cancelled job long', 'RUNNING 0');
  expect(await stateOf(box, 'long')).toBe('cancelled');

  // Selects the dead job, two lists below.
  await box.run(['enqueue', 'touch fixed', '--wait']);
  top.type(TAB + TAB);
  await top.shows('> broken');
  top.type('r');
  await top.shows('retried job broken', 'FAILURES 0');
  await until(async () => (await stateOf(box, 'broken')) === 'completed', 'the retried job has completed');

  // Selects the queue of the job, in the first list.
  top.type(`${TAB}${TAB}`);
  await top.shows('> default');
  top.type('p');
  await top.shows('paused queue default');
  expect(top.line('> default')).toContain('paused');
  await enqueue(box, 'stays', 'true');
  await top.shows('WAITING 1');
  top.type(`${TAB}${TAB}`);
  await top.shows('> stays');
  top.type('h');
  await top.shows('held job stays');
  await until(() => /> stays +held/.test(top.line('> stays') ?? ''), 'the job is shown as held');
  top.type('h');
  await top.shows('released job stays');
  top.type('p');
  await top.shows('resumed queue default', 'WAITING 0');
  await until(async () => (await stateOf(box, 'stays')) === 'completed', 'the job runs');

  top.type('?');
  await top.shows('press any key to go back');
  top.type('xq');
  expect(await top.closed).toBe(0);
  expect(top.screen()).toMatchObject({ alternate: false, cursor: true });
  workers.child.kill('SIGTERM');
});

test('top shows only the rows that match the filter', async (box) => {
  for (const id of ['apple', 'pear', 'plum']) await enqueue(box, id, `echo ${id}`);
  const top = openTop(box);
  await top.shows('apple', 'pear', 'plum', 'no worker is running');
  top.type('/PEA');
  await top.shows('/PEA_', 'WAITING 1');
  expect(top.line('apple')).toBeUndefined();
  top.type(ENTER);
  await top.shows('filter: PEA (Esc clears it)');
  top.type('\x1b');
  await top.shows('apple', 'plum');
  top.type('\x03');
  expect(await top.closed).toBe(0);
});

test('top redraws the whole screen after each resize of the terminal', async (box) => {
  for (let i = 0; i < 40; i++)
    await enqueue(box, `job-${i}`, `echo 漢字 ${'long '.repeat(40)}`, { queue: `q${i % 7}` });
  const top = onTerminal(box, ['top'], 24, 80);
  for (const [rows, columns] of [
    [15, 60],
    [80, 250],
    [5, 20],
    [24, 80],
  ] as const) {
    const before = top.stdout().length;
    top.resize(rows, columns);
    // Renders the text since the screen was last cleared. renderScreen throws if a line is below the screen.
    const screen = () =>
      renderScreen(
        `\x1b[H${top.stdout().slice(before).split('\x1b[2J').slice(1).at(-1) ?? ''}`,
        rows,
        columns,
      );
    await until(
      () => top.stdout().slice(before).includes('\x1b[2J') && screen().lines.at(-1)!.startsWith('q quit'),
      'the screen is redrawn',
    );
    expect(screen().lines[0]).toStartWith('queuectl top');
  }
  process.kill(top.pid, 'SIGTERM');
});

test('top restores the terminal when a signal ends it', async (box) => {
  const pidFile = join(box.directory, 'pid');
  const script = `sh -c 'echo $$ >"$0"; exec "$@"' "$0" "$@"; echo "code $?"; stty -a`;
  for (const [signal, code] of [
    ['SIGTERM', 143],
    ['SIGINT', 130],
    ['SIGHUP', 129],
  ] as const) {
    const top = openTop(box, 30, 80, { through: ['bash', '-c', script, pidFile] });
    await top.shows('queuectl top', 'q quit');
    process.kill(Number(readFileSync(pidFile, 'utf8')), signal);
    expect(await top.closed).toBe(0);
    expect(top.stdout()).toContain(`\x1b[?25h\x1b[?1049lcode ${code}`);
    expect(top.stdout()).toMatch(NORMAL_MODE);
  }
});

test('top stops on Ctrl-Z and continues with fg', async (box) => {
  const script =
    'set -m; "$@"; echo "stopped $?"; stty -a; read line; fg >/dev/null; echo "ended $?"; stty -a';
  const top = openTop(box, 30, 80, { through: ['bash', '-c', script, 'bash'] });
  await top.shows('queuectl top', 'q quit');
  top.type('\x1a');
  await until(() => top.stdout().includes('stopped 148'), 'top is stopped');
  await until(() => NORMAL_MODE.test(top.stdout()), 'the terminal is as before');
  expect(top.stdout()).toContain('\x1b[?1049l');
  const before = top.stdout().length;
  top.type('\r');
  await until(() => top.stdout().slice(before).includes('\x1b[?1049h'), 'top is on the screen again');
  await until(() => top.stdout().slice(before).includes('q quit'), 'top has drawn its screen');
  top.type('q');
  await until(() => top.stdout().includes('ended 0'), 'top has ended');
  expect(await top.closed).toBe(0);
  expect(top.stdout().slice(top.stdout().indexOf('ended 0'))).toMatch(NORMAL_MODE);
});

test('top reports a missing store and continues when it is back', async (box) => {
  await enqueue(box, 'before', 'true');
  const top = openTop(box, 24, 100);
  await top.shows('before');
  renameSync(box.home, `${box.home}-away`);
  await top.shows('retrying');
  await top.shows('before');
  renameSync(`${box.home}-away`, box.home);
  await until(() => top.line('retrying') === undefined, 'the error is gone');
  await enqueue(box, 'after', 'true');
  await top.shows('after');
  top.type('q');
  expect(await top.closed).toBe(0);
});

test('without a terminal top is refused with a hint, and --once and --json work', async (box) => {
  await enqueue(box, 'one', 'true');
  const refused = await box.run(['top']);
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toContain('queuectl top --once, queuectl status --watch or queuectl status --json');
  const env = { COLUMNS: '70', LINES: '20', LC_ALL: 'C' };
  const { stdout } = await box.run(['top', '--once'], { env });
  expect(stdout.split('\n')).toHaveLength(20);
  expect(stdout).not.toContain('q quit');
  expect(stdout).toMatch(/^[\n\x20-\x7e]*$/);
  expect(stdout).toMatch(/\n {2}one +no worker/);
  const json = await box.json<Record<string, unknown>>(['top']);
  expect(json).toMatchObject({ jobs: { pending: 1 }, running: [], waiting: [{ id: 'one' }], workers: [] });
  for (const wrong of ['0', 'soon', '2h']) expect((await box.run(['top', '--interval', wrong])).code).toBe(2);
});
