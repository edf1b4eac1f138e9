import { diagnose, type Finding } from '../../actions/doctor.ts';
import { VERSION } from '../../core/version.ts';
import { defineCommand } from '../command.ts';
import type { Io } from '../io.ts';
import { jsonText } from '../layout.ts';
import { printTable } from '../table.ts';
import type { Color } from '../text.ts';

const COLORS: Record<Finding['status'], Color> = { ok: 'green', warn: 'yellow', fail: 'red' };

export default defineCommand({
  name: 'doctor',
  summary: 'Check the installation and suggest fixes',
  args: '',
  most: 0,
  flags: { quick: { help: 'skip slow checks, such as reading the whole database' } },
  prints: { object: 'Doctor' },
  examples: [
    'queuectl doctor',
    'queuectl doctor --quick',
    'queuectl doctor --json | jq \'.checks[] | select(.status != "ok")\'',
  ],
  notes: [
    'Checks the runtime, SQLite, disk space, permissions, the database, workers and jobs. Changes nothing. Exits with 1 if a check fails.',
  ],
  async run({ io, location }, input) {
    const findings = await diagnose(location, Date.now(), !input.has('quick'));
    const failed = findings.some((one) => one.status === 'fail');
    if (io.json) io.out(`${jsonText(io, { version: VERSION, ok: !failed, checks: findings })}\n`);
    else print(io, findings);
    return failed ? 1 : 0;
  },
});

function print(io: Io, findings: Finding[]): void {
  const shown = io.quiet ? findings.filter((one) => one.status !== 'ok') : findings;
  printTable(
    io,
    [
      { title: 'CHECK', value: (one) => one.check },
      { title: 'STATUS', value: (one) => one.status, color: (one) => COLORS[one.status] },
      { title: 'FOUND', value: (one) => one.says },
      { title: 'TRY', value: (one) => one.fix ?? '' },
    ],
    shown,
  );
}
