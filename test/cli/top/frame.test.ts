import { expect, test } from 'bun:test';
import { displayWidth } from '../../../src/cli/print/text.ts';
import { drawScreen, helpLines, type Picture } from '../../../src/cli/top/frame.ts';
import { press, rowsOf, startUi } from '../../../src/cli/top/ui.ts';
import { jobOf, NOW, snapshotOf } from './snapshot.ts';

const PLAIN = { color: false, ascii: false };

function picture(changes: Partial<Picture> = {}): Picture {
  return {
    ...{ snapshot: snapshotOf(), throughput: new Map(), ui: startUi(), output: null },
    ...{ now: NOW, location: '/tmp/queue.db', problem: null },
    ...changes,
  };
}

/** A text with control, wide, combining and right-to-left characters, longer than a line. */
const NASTY = `echo \x1b[2J\r\n\t 漢字かな 👩‍👩‍👧 e\u0301 \u202e \x07 ${'x'.repeat(300)}`;

test('every line is as wide as the screen, even with wide or control characters in commands and errors', () => {
  const jobs = Array.from({ length: 30 }, (_, i) => jobOf(`job-${i}`, { command: NASTY, lastError: NASTY }));
  const snapshot = snapshotOf({
    running: jobs.map((job) => ({ ...job, startedAt: NOW - 5000, timeoutMs: 60_000 })),
    waiting: jobs,
    failures: jobs.map((job) => ({ ...job, state: 'dead' })),
  });
  for (const [width, height] of [
    [60, 15],
    [80, 24],
    [119, 30],
    [120, 30],
    [250, 80],
    [20, 5],
    [3, 1],
  ] as const) {
    for (const mode of [{ kind: 'panes' }, { kind: 'help', top: 0 }] as const) {
      const ui = { ...startUi(), mode };
      const lines = drawScreen(picture({ snapshot, ui }), { width, height }, PLAIN);
      expect(lines).toHaveLength(height);
      for (const line of lines) {
        expect(displayWidth(line)).toBe(width);
        expect(line).not.toMatch(/[\p{Cc}\u202e]/u);
      }
    }
  }
});

test('ASCII output is as wide as the screen, and colored output has the same text as plain output', () => {
  const snapshot = snapshotOf({ waiting: [jobOf('a', { command: NASTY })] });
  const size = { width: 100, height: 24 };
  for (const line of drawScreen(picture({ snapshot }), size, { color: false, ascii: true }))
    expect(line).toMatch(/^[\x20-\x7e]{100}$/);
  const plain = drawScreen(picture({ snapshot }), size, PLAIN);
  const painted = drawScreen(picture({ snapshot }), size, { color: true, ascii: false });
  expect(painted.map((line) => line.replaceAll(/\x1b\[\d+m/g, ''))).toEqual(plain);
});

test('a screen of 15 lines shows every list, and one of 10 lines only the focused list', () => {
  const jobs = [jobOf('w1'), jobOf('w2')];
  const at = (height: number) =>
    drawScreen(picture({ snapshot: snapshotOf({ waiting: jobs }) }), { width: 60, height }, PLAIN).join('\n');
  for (const title of ['QUEUES', 'RUNNING', 'WAITING', 'FAILURES', 'WORKERS'])
    expect(at(15)).toContain(title);
  expect(at(15)).toContain('w2');
  expect(at(10)).toContain('RUNNING');
  for (const title of ['QUEUES', 'WAITING', 'FAILURES', 'WORKERS']) expect(at(10)).not.toContain(title);
});

test('a running job shows its run time, the time left, and that it is being cancelled', () => {
  const job = { ...jobOf('r'), startedAt: NOW - 90_000, timeoutMs: 120_000 };
  const shown = (endReason: 'cancelled' | null) =>
    drawScreen(
      picture({ snapshot: snapshotOf({ running: [{ ...job, endReason }] }) }),
      { width: 100, height: 24 },
      PLAIN,
    ).find((line) => line.startsWith('> r'));
  expect(shown(null)).toMatch(/> r +running +1m 30s +30s /);
  expect(shown('cancelled')).toContain('cancelling');
});

test('a waiting job shows what it waits for', () => {
  const waiting = [
    jobOf('a', { waitingFor: 'queue_paused' }),
    jobOf('b', { waitingFor: 'at_limit' }),
    jobOf('c', { waitingFor: 'ready' }),
    jobOf('d', { waitingFor: 'scheduled', dueAt: NOW + 60_000 }),
    jobOf('e', { waitingFor: 'held', held: true }),
  ];
  const lines = drawScreen(picture({ snapshot: snapshotOf({ waiting }) }), { width: 80, height: 30 }, PLAIN);
  const status = (id: string) =>
    new RegExp(`^  ${id} +(.*?)  `).exec(lines.find((line) => line.startsWith(`  ${id} `))!)?.[1];
  expect(['a', 'b', 'c', 'd', 'e'].map(status)).toEqual([
    'queue paused',
    'at limit',
    'ready',
    'in 1m',
    'held',
  ]);
});

test('an error is shown at the top, above the last data', () => {
  const lines = drawScreen(
    picture({ problem: 'no such file', snapshot: snapshotOf({ waiting: [jobOf('old')] }) }),
    { width: 80, height: 24 },
    PLAIN,
  );
  expect(lines[0]).toContain('retrying: no such file');
  expect(lines.join('\n')).toContain('old');
});

test('a filter matches ids, queues, commands and errors, ignoring case', () => {
  const snapshot = snapshotOf({
    waiting: [
      jobOf('one', { command: 'Backup' }),
      jobOf('two', { queue: 'backups' }),
      jobOf('three', { lastError: 'Disk full' }),
    ],
  });
  const ids = (filter: string) =>
    rowsOf(snapshot, 'waiting', filter).map((row) => (row as { id: string }).id);
  expect(ids('BACKUP')).toEqual(['one', 'two']);
  expect(ids('thr')).toEqual(['three']);
  expect(ids('disk FULL')).toEqual(['three']);
  expect(ids('')).toHaveLength(3);
});

test('a screen of 40 columns and 10 lines shows why a job waits, even if its id is long', () => {
  const job = jobOf('2f6b5a9e-7d0c-4f7e-9d55-0123456789ab', { waitingFor: 'queue_paused' });
  for (const [focus, title, status] of [
    ['waiting', 'WAITING FOR', 'queue paused'],
    ['running', 'STATUS', 'running'],
    ['queues', 'STATUS', 'open'],
  ] as const) {
    const ui = { ...startUi(), focus };
    const snapshot = snapshotOf({ waiting: [job], running: [{ ...job, startedAt: NOW - 90_000 }] });
    const lines = drawScreen(picture({ snapshot, ui }), { width: 40, height: 10 }, PLAIN).join('\n');
    expect(lines).toContain(title);
    expect(lines).toContain(status);
  }
});

test('on a narrow screen all of the help can be read, and its lines are not cut', () => {
  const size = { width: 40, height: 10 };
  const scene = {
    snapshot: snapshotOf(),
    lines: { first: 0, end: 0 },
    helpLines: helpLines(40).length,
    page: 8,
  };
  let { ui } = press(startUi(), '?', scene);
  const seen = new Set<string>();
  for (let i = 0; i < 40 && ui.mode.kind === 'help'; i++) {
    const screen = drawScreen(picture({ ui }), size, PLAIN);
    expect(screen.at(-1)).toContain('scroll');
    for (const line of screen) seen.add(line.trimEnd());
    ({ ui } = press(ui, 'down', scene));
  }
  expect(ui.mode.kind).toBe('help');
  for (const line of helpLines(40)) expect(seen).toContain(line);
  expect([...seen].join('')).not.toContain('…');
  expect(press(ui, 'q', scene).ui.mode.kind).toBe('panes');
  const tall = { ...scene, helpLines: 16, page: 22 };
  expect(press(press(startUi(), '?', tall).ui, 'down', tall).ui.mode.kind).toBe('panes');
});

test('the rates are separate numbers at any width', () => {
  const second = Math.floor(NOW / 1000) - 3;
  const throughput = new Map([[second, { completed: 25, failed: 14 }]]);
  for (let width = 32; width < 120; width++) {
    const screen = drawScreen(picture({ throughput }), { width, height: 12 }, PLAIN);
    expect(screen[2]).toMatch(/^completed\/s .*\b2\.5 +failed\/s .*\b1\.4\s*$/);
  }
});
