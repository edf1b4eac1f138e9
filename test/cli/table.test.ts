import { expect, test } from 'bun:test';
import { array, assert as check, constantFrom, integer, property, record, string } from 'fast-check';
import { jobColumns } from '../../src/cli/print/job-table.ts';
import { align, GAP } from '../../src/cli/print/table.ts';
import { displayWidth } from '../../src/cli/print/text.ts';
import { WAITING_REASONS } from '../../src/core/jobs/waiting-reason.ts';
import { jobOf, NOW } from './top/snapshot.ts';

const TIMES = { now: NOW, text: () => '12m ago' };
const UUID = '2f6b5a9e-7d0c-4f7e-9d55-0123456789ab';

function linesOf(ids: string[], width: number): string[] {
  const jobs = ids.map((id) =>
    jobOf(id, { queue: 'default', waitingFor: 'no_worker', command: 'make a b c' }),
  );
  const { titles, rows } = align(jobColumns(TIMES), jobs, width);
  return [titles, ...rows.map((cells) => cells.map(({ text }) => text))].map((cells) => cells.join(GAP));
}

test('long ids are shortened before the reason why a job waits is dropped', () => {
  for (const [id, width] of [
    [UUID, 80],
    ['x'.repeat(64), 80],
    [UUID, 60],
    ['x'.repeat(64), 44],
    ['job-1', 44],
  ] as const) {
    const [titles, line] = linesOf([id], width) as [string, string];
    expect(titles).toMatch(/^ID +STATE +WAITING FOR/);
    expect(line).toMatch(/ pending {2,}no worker /);
    expect(line.startsWith(id.length <= 8 ? id : id.slice(0, 7))).toBe(true);
  }
  expect(linesOf([UUID], 120)[1]).toContain(`${UUID} `);
  expect(linesOf([UUID], 60)[1]).toContain('…');
});

test('no row is wider than the terminal', () => {
  const text = string({ unit: constantFrom(...'ab -漢字\u{1f469}\x1b\n'), maxLength: 90 });
  const job = record({
    ...{ id: text, queue: text, name: text, command: text, lastError: text },
    waitingFor: constantFrom(null, ...WAITING_REASONS),
  });
  check(
    property(array(job, { minLength: 1, maxLength: 4 }), integer({ min: 1, max: 130 }), (jobs, width) => {
      const rows = jobs.map(({ id, ...changes }) => jobOf(id, changes));
      const table = align(jobColumns(TIMES), rows, width);
      const cells = [table.titles, ...table.rows.map((row) => row.map((cell) => cell.text))];
      for (const row of cells) expect(displayWidth(row.join(GAP).trimEnd())).toBeLessThanOrEqual(width);
    }),
  );
});
