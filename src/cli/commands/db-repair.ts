import { repairDatabase } from '../../actions/db.ts';
import { systemClock } from '../../core/clock.ts';
import type { RepairResult } from '../../store/contract/file-care.ts';
import { defineCommand } from '../command.ts';
import type { Io } from '../io.ts';
import { printable } from '../text.ts';

/** Up to this many losses are printed. */
const LISTED_LOSSES = 20;

export default defineCommand({
  name: 'db repair',
  summary: 'Recover data from a damaged database',
  examples: ['queuectl db repair', 'queuectl db repair --json'],
  notes: [
    'Stop all workers first. The command copies every readable row to a new file, rebuilds the counters and replaces the database. The damaged file is kept in the same directory. If part of a table cannot be reached, queuectl searches the file for its rows, page by page.',
    'The command prints what was saved and what was lost. It exits with code 1 if anything was lost. It changes nothing if the database is not damaged or if no job can be saved.',
  ],
  async run({ io, location, anyOwner }) {
    const repair = await repairDatabase({ clock: systemClock, random: Math.random }, location, anyOwner);
    if (repair === null) {
      if (io.json) io.out(`${JSON.stringify({ db: location, sound: true })}\n`);
      else io.out('no damage found; the database was not changed\n');
      return 0;
    }
    if (io.json) io.out(`${JSON.stringify({ ...repair, sound: false })}\n`);
    else print(io, repair);
    return repair.lost.length + repair.problems.length > 0 ? 1 : 0;
  },
});

function print(io: Io, { how, saved, loose, lost, problems, kept }: RepairResult): void {
  io.out(`the database was read ${how}\n`);
  for (const [table, rows] of Object.entries(saved)) io.out(`saved\t${table}\t${rows}\n`);
  for (const [table, rows] of Object.entries(loose))
    io.out(`loose\t${table}\t${rows} of these were on pages outside any table and may be old versions\n`);
  for (const one of lost.slice(0, LISTED_LOSSES)) io.out(`lost\t${printable(one)}\n`);
  if (lost.length > LISTED_LOSSES)
    io.out(`lost\tand ${lost.length - LISTED_LOSSES} more; use --json to list them all\n`);
  for (const one of problems) io.out(`remaining\t${printable(one)}\n`);
  io.out(`kept\t${printable(kept)}\n`);
}
