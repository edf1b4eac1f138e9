/**
 * Writes docs/recording.svg, the animated terminal at the top of the README. It runs the commands below with the built
 * executable on a pseudo-terminal, and draws them as if they were typed. Run it after a build: npx bun scripts/recording.ts
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { createAnsi } from '../ui/output/ansi.ts';

const COMMANDS = [
  "queuectl enqueue --id report --max-retries 2 'cat sales.csv'",
  'queuectl worker start --detach',
  'queuectl wait report',
  'queuectl dlq list',
  'echo 42 > sales.csv',
  'queuectl dlq retry report && queuectl wait report',
  'queuectl logs report',
];
const COLUMNS = 92;
const TARGET = 'docs/recording.svg';

/** Sizes in pixels. */
const CELL = { width: 8.4, height: 19 };
const MARGIN = 16;
const SECONDS_PER_KEY = 0.04;
const SECONDS_BEFORE_OUTPUT = 0.3;
const SECONDS_AFTER_OUTPUT = 1.1;
const SECONDS_AT_THE_END = 5;

const PALETTE: Record<string, string> = {
  'ansi-1': '#ff7b72',
  'ansi-2': '#7ee787',
  'ansi-3': '#e3b341',
  'ansi-4': '#79c0ff',
  'ansi-5': '#d2a8ff',
  'ansi-6': '#76e3ea',
  'ansi-8': '#8b949e',
};

interface Line {
  /** Markup of the line. */
  text: string;
  /** When the line appears, in seconds. */
  at: number;
}

const directory = mkdtempSync(join(tmpdir(), 'queuectl-recording-'));
const env = {
  PATH: resolve('dist') + delimiter + process.env.PATH!,
  ...{ HOME: directory, QUEUECTL_HOME: directory, USER: 'ana', TERM: 'xterm-256color', LANG: 'C.UTF-8' },
};

/** Runs one command line on a terminal and returns the lines that it printed, without empty lines, notes and warnings. */
function run(command: string): string[] {
  const terminal = [resolve('test/support/terminal.py'), '40', String(COLUMNS), 'sh', '-c', command];
  const { stdout } = spawnSync('python3', terminal, { cwd: directory, env, encoding: 'utf8', input: '' });
  const lines = stdout.replaceAll('\r\n', '\n').replace(/\n$/, '').split('\n');
  return lines.filter((line) => line !== '' && !/(note|warning).*: /.test(line));
}

function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function toMarkup(line: string): string {
  const pieces = createAnsi()(line).map(({ text, look }) =>
    look === '' ? escapeMarkup(text) : `<tspan class="${look}">${escapeMarkup(text)}</tspan>`,
  );
  return pieces.join('');
}

/** Returns the prompt, and then a line for each key of the command. Each line replaces the previous one. */
function typingSteps(command: string, from: number): Line[] {
  const keys = [...command].map((_, index) => command.slice(0, index + 1));
  return ['', ...keys].map((text, index) => ({
    text: `<tspan class="ansi-2">$</tspan> ${escapeMarkup(text)}`,
    at: from + index * SECONDS_PER_KEY,
  }));
}

/** A row of the terminal, with the lines that it shows one after the other. */
interface Row {
  lines: Line[];
}

function record(): { rows: Row[]; seconds: number } {
  const rows: Row[] = [];
  let now = 0.5;
  for (const command of COMMANDS) {
    const lines = typingSteps(command, now);
    rows.push({ lines });
    now = lines.at(-1)!.at + SECONDS_BEFORE_OUTPUT;
    const output = run(command);
    for (const text of output) rows.push({ lines: [{ text: toMarkup(text), at: now }] });
    if (output.length > 0) now += SECONDS_AFTER_OUTPUT;
  }
  return { rows, seconds: now + SECONDS_AT_THE_END };
}

/**
 * Returns the markup of a line that is shown from its own time until `until`, in each repetition of the recording. A viewer
 * that does not animate shows the end of the recording.
 */
function animateLine(line: Line, until: number, y: number, seconds: number): string {
  const share = (time: number): string => (time / seconds).toFixed(5);
  const stays = until === seconds;
  return (
    `<text x="${MARGIN}" y="${y}" visibility="${stays ? 'visible' : 'hidden'}">${line.text}` +
    `<animate attributeName="visibility" calcMode="discrete" dur="${seconds.toFixed(2)}s" repeatCount="indefinite" ` +
    `keyTimes="0;${share(line.at)};${share(until)}" values="hidden;visible;${stays ? 'visible' : 'hidden'}"/></text>`
  );
}

function draw({ rows, seconds }: { rows: Row[]; seconds: number }): string {
  const width = Math.ceil(COLUMNS * CELL.width) + 2 * MARGIN;
  const height = rows.length * CELL.height + 2 * MARGIN;
  const texts = rows.flatMap(({ lines }, row) =>
    lines.map((line, index) =>
      animateLine(line, lines[index + 1]?.at ?? seconds, MARGIN + (row + 0.75) * CELL.height, seconds),
    ),
  );
  const colours = Object.entries(PALETTE).map(([look, colour]) => `.${look}{fill:${colour}}`);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    '<title>A job fails twice, lands in the dead letter queue, is retried and completes</title>',
    `<style>text{font:14px ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#e6edf3;white-space:pre}`,
    `.ansi-bold{font-weight:bold}.ansi-dim{fill:#8b949e}${colours.join('')}</style>`,
    `<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>`,
    ...texts,
    '</svg>',
    '',
  ].join('\n');
}

try {
  writeFileSync(TARGET, draw(record()));
} finally {
  run('queuectl worker stop');
  rmSync(directory, { recursive: true, force: true });
}
