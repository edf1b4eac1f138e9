/** Tests how the colors and progress bars of jobs look on a terminal. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { configure, enqueue, sandbox, until, untilState } from '../support/queuectl.ts';
import { renderScreen } from '../support/screen.ts';
import { interruptUntilClosed, onTerminal } from '../support/terminal.ts';

const RED = '\x1b[31m';
const RESET = '\x1b[0m';
const COLORS = { env: { NO_COLOR: '' } };
const box = sandbox();

beforeAll(async () => {
  await configure(box, { 'backoff-base': '1' });
  await box.startWorkers('--concurrency', '4');
  await runJob('red', "printf 'a\\033[31mred\\n'");
  await runJob('blue', "printf '\\033[1;34mblue\\033[0m\\n'");
});
afterAll(() => box.cleanup());

async function runJob(id: string, command: string, more: Record<string, unknown> = {}): Promise<void> {
  await enqueue(box, id, command, more);
  await untilState(box, id, 'completed');
}

const openGate = (name: string): void => writeFileSync(join(box.directory, name), '');
const gate = (name: string): string => `until [ -e ${name} ]; do sleep 0.02; done`;

/** Runs a command on a terminal with colors. Returns the text it prints, without the carriage returns of newlines. */
async function terminalText(args: string[], env: Record<string, string> = COLORS.env): Promise<string> {
  const terminal = onTerminal(box, args, 24, 80, { env });
  await terminal.closed;
  return terminal.stdout().replaceAll('\r\n', '\n');
}

/** Returns the lines on the screen of a terminal after `text` was printed, without empty lines. */
const screenOf = (text: string): string[] => renderScreen(text, 24, 80).lines.filter((line) => line !== '');

test('logs shows colors and resets them at the end, between jobs and between streams', async () => {
  const split = "printf '\\033[31mout'; printf '\\033[32merr' >&2";
  await runJob('split', split, { split_output: true });
  expect(await terminalText(['logs', 'blue'])).toBe(`\x1b[1;34mblue${RESET}\n`);
  expect(await terminalText(['logs', 'red', 'blue'])).toBe(
    `==> red <==\na${RED}red\n${RESET}\n==> blue <==\n\x1b[1;34mblue${RESET}\n`,
  );
  expect(await terminalText(['logs', 'split'])).toBe(
    `--- stdout ---\n${RED}out${RESET}\n--- stderr ---\n\x1b[32merr${RESET}\n`,
  );
});

test('NO_COLOR, --color never and TERM=dumb drop the colors, and a pipe gets them unchanged', async () => {
  await runJob('bar', "printf '\\033[32m10%%\\r\\033[8m20%%\\033[2K\\n'");
  const plain = '10%\r20%\x1b[2K\n';
  expect(await terminalText(['logs', 'bar'], { NO_COLOR: '1' })).toBe(plain);
  expect(await terminalText(['logs', 'bar'], { NO_COLOR: '', TERM: 'dumb' })).toBe('10%\r20%\n');
  expect(await terminalText(['logs', 'bar', '--color', 'never'])).toBe(plain);
  expect(await terminalText(['logs', 'bar', '--color', 'always'], { NO_COLOR: '1' })).toBe(
    `\x1b[32m10%\r20%${RESET}\x1b[2K\x1b[32m\n${RESET}`,
  );
  const bytes = '\x1b[32m10%\r\x1b[8m20%\x1b[2K\n';
  expect((await box.run(['logs', 'bar'])).stdout).toBe(bytes);
  expect((await box.run(['logs', 'bar', '--color', 'never'], { env: { NO_COLOR: '1' } })).stdout).toBe(bytes);
});

test('logs -f joins a color sequence that arrives in two parts, and shows an unfinished one as text', async () => {
  await enqueue(box, 'halves', `printf 'begun\\n\\033[3'; ${gate('halves')}; printf '1mred\\033[3'`);
  const following = onTerminal(box, ['logs', '-f', 'halves'], 24, 80, COLORS);
  await until(() => following.stdout().includes('begun'), 'it shows the first part');
  openGate('halves');
  expect(await following.closed).toBe(0);
  expect(following.stdout()).toStartWith(`begun\r\n${RED}red${RESET}${RED}\\x1b[3${RESET}\r\n`);
});

test('logs -f resets the colors before its own lines, also between attempts', async () => {
  const command = `printf '\\033[31mtry'; [ -e again ] || { touch again; exit 1; }`;
  await enqueue(box, 'twice', command, { max_retries: 2 });
  const text = await terminalText(['logs', '-f', 'twice']);
  expect(text).toContain(`${RED}try${RESET}\nnote: attempt`);
  expect(text.lastIndexOf(RESET)).toBeGreaterThan(text.lastIndexOf(RED));
});

test('Ctrl-C in logs -f leaves the terminal without colors', async () => {
  await enqueue(box, 'endless', `printf '\\033[31mred'; ${gate('endless')}`);
  const following = onTerminal(box, ['logs', '-f', 'endless'], 24, 80, COLORS);
  await until(() => following.stdout().includes('red'), 'it shows the color');
  expect(following.stdout()).toEndWith(`${RED}red${RESET}`);
  following.interrupt();
  expect(await following.closed).toBe(130);
  // Typing Ctrl-C makes a terminal discard text, so queuectl resets the colors again.
  expect(following.stdout()).toMatch(/red\x1b\[0m\^C\x1b\[0m\r\njob endless keeps running/);
  openGate('endless');
  await untilState(box, 'endless', 'completed');
});

test('Ctrl-C in logs leaves the terminal without colors', async () => {
  await runJob('long', "printf '\\033[31m'; yes 0123456789abcdef | head -c 9000000");
  const logs = onTerminal(box, ['logs', 'long'], 24, 80, COLORS);
  await until(() => logs.stdout() !== '', 'it prints');
  expect(await interruptUntilClosed(logs)).toBe(130);
  expect(logs.stdout().length).toBeLessThan(9_000_000);
  expect(
    logs
      .stdout()
      .match(/\x1b\[[0-9;]*m/g)
      ?.at(-1),
  ).toBe(RESET);
});

test('run and enqueue --follow show colors and progress bars', async () => {
  const command = "printf '\\033[32m10%%\\r'; printf '100%%\\r\\nleft\\033[31m red'; echo e >&2";
  for (const args of [
    ['run', '--split-output', command],
    ['enqueue', '--follow', command],
  ]) {
    const text = await terminalText(args);
    expect(text).toContain('\x1b[32m10%\r');
    expect(text).toMatch(/\x1b\[(0;)?31m red/);
    expect(screenOf(text.replaceAll('\n', '\r\n'))).toContain('100%');
    expect(text).not.toContain('\\x1b');
    const last = text.slice(text.lastIndexOf(' red'));
    expect(last).toMatch(/^ red\n?(e\n)?\x1b\[0m/);
  }
});

test('top shows colors inside its own layout, and the last state of a progress bar', async () => {
  const command = `printf 'a\\033[34mblue\\n\\033[0m\\033[42;37m10%%\\r100%%\\033[0m done\\n\\033[2Jend\\033[31m'; ${gate('top')}`;
  await enqueue(box, 'screen', command);
  await untilState(box, 'screen', 'processing');
  const top = onTerminal(box, ['top'], 24, 80, COLORS);
  const lines = (): string[] => renderScreen(top.stdout(), 24, 80).lines;
  await until(() => lines().some((line) => line.startsWith('> screen')), 'it shows the job');
  top.type('\r');
  await until(() => lines().includes('\\x1b[2Jend'), 'it shows the output');
  expect(lines()).toContain('ablue');
  expect(lines()).toContain('100% done');
  expect(top.stdout()).toContain(`a\x1b[34mblue${RESET}`);
  expect(top.stdout()).toContain(`\x1b[42;37m100%${RESET} done`);
  expect(top.stdout()).not.toContain('\\x1b[34m');
  // No line of the screen ends with a color of the job.
  for (const line of top.stdout().split(/\x1b\[\d+;1H/))
    expect(line.match(/\x1b\[[0-9;]*m/g)?.at(-1) ?? RESET).toBe(RESET);
  top.type('qq');
  expect(await top.closed).toBe(0);
  openGate('top');
});
