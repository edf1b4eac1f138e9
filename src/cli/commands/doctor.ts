import { diagnose } from '../../actions/doctor.ts';
import type { Finding } from '../../core/rules/finding.ts';
import { VERSION } from '../../core/version.ts';
import { defineCommand } from '../frame/command.ts';
import type { Io } from '../frame/io.ts';
import { wrap } from '../help/help-page.ts';
import { printJson } from '../print/layout.ts';
import { type Column, GAP, isAligned, printTable, tableWidth } from '../print/table.ts';
import type { Color } from '../print/text.ts';

const STATUS_COLORS: Record<Finding['status'], Color> = { ok: 'green', warn: 'yellow', fail: 'red' };

export default defineCommand({
  name: 'doctor',
  summary: 'Check the installation and suggest fixes',
  flags: { quick: { help: 'skip slow checks, such as reading the whole database' } },
  prints: { object: 'Doctor' },
  examples: [
    'queuectl doctor',
    'queuectl doctor --quick',
    'queuectl doctor --json | jq \'.checks[] | select(.status != "ok")\'',
  ],
  notes: [
    'The command checks the runtime, SQLite, disk space, permissions, the database, workers and jobs. It changes nothing. It exits with code 1 if a check fails.',
  ],
  async run({ io, location }, input) {
    const findings = await diagnose(location, Date.now(), !input.has('quick'));
    const failed = findings.some((one) => one.status === 'fail');
    if (io.json) printJson(io, { version: VERSION, ok: !failed, checks: findings });
    else print(io, findings);
    return failed ? 1 : 0;
  },
});

/** A line of a table. On a narrow terminal, a finding has several, of which only the first has a check and a status. */
interface FindingLine {
  check: string;
  status: Finding['status'] | '';
  says: string;
}

const COLUMNS: Column<FindingLine>[] = [
  { title: 'CHECK', value: (one) => one.check },
  {
    title: 'STATUS',
    value: (one) => one.status,
    color: (one) => (one.status === '' ? undefined : STATUS_COLORS[one.status]),
  },
  { title: 'FOUND', value: (one) => one.says },
];
const FIX_COLUMN: Column<Finding> = { title: 'FIX', value: (one) => one.fix ?? '' };

function print(io: Io, findings: Finding[]): void {
  const shown = io.quiet ? findings.filter((one) => one.status !== 'ok') : findings;
  const columns = [...COLUMNS, FIX_COLUMN] as Column<Finding>[];
  if (!isAligned(io) || tableWidth(columns, shown) <= io.width) printTable(io, columns, shown);
  else {
    const room = io.width - tableWidth(COLUMNS.slice(0, 2), shown) - GAP.length;
    const lines = shown.flatMap((one) => wrapFinding(one, room));
    printTable(io, COLUMNS, lines);
  }
}

/** Returns the lines of a finding on a narrow terminal, with the fix below what was found. */
function wrapFinding({ check, status, says, fix }: Finding, room: number): FindingLine[] {
  const texts = [says, ...(fix === null ? [] : [`fix: ${fix}`])];
  const [first = '', ...more] = texts
    .flatMap((text) => wrap(text, room))
    .flatMap((text) => splitToWidth(text, room));
  return [
    { check, status, says: first },
    ...more.map((text): FindingLine => ({ check: '', status: '', says: text })),
  ];
}

/** Splits a line that is wider than `room`, such as a long path. */
function splitToWidth(text: string, room: number): string[] {
  const size = Math.max(room, MIN_ROOM);
  return Array.from({ length: Math.ceil(text.length / size) }, (_, i) =>
    text.slice(i * size, (i + 1) * size),
  );
}

const MIN_ROOM = 8;
