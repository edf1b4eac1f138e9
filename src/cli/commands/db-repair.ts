import { type Repair, repairDatabase } from '../../actions/db.ts';
import { systemClock } from '../../core/clock.ts';
import type { Command } from '../command.ts';
import type { Io } from '../io.ts';
import { printable } from '../text.ts';

const SHOWN = 20;

export default {
  name: 'db repair',
  summary: 'Save what can be read of a damaged database; the damaged file is kept',
  args: '',
  most: 0,
  flags: {},
  examples: ['queuectl db repair', 'queuectl db repair --json'],
  notes: [
    'Needs all workers stopped. Row by row into a new file, its counters made anew,',
    'then that takes the place of the damaged one, which stays beside it. Where the',
    'way to rows is damaged, they are looked for page by page. Says what was saved',
    'and what was lost; exits with 1 when something was. Where no job can be saved,',
    'or nothing is wrong, nothing changes.',
  ],
  async run({ io, location, environment }) {
    const anyOwner = environment.QUEUECTL_ANY_OWNER === '1';
    const repair = await repairDatabase({ clock: systemClock, random: Math.random }, location, anyOwner);
    if (repair === null) {
      if (io.json) io.out(`${JSON.stringify({ db: location, sound: true })}\n`);
      else io.out('nothing is wrong with it; it was left as it is\n');
      return 0;
    }
    if (io.json) io.out(`${JSON.stringify({ ...repair, sound: false })}\n`);
    else print(io, repair);
    return repair.lost.length + repair.problems.length > 0 ? 1 : 0;
  },
} satisfies Command as Command;

function print(io: Io, { how, saved, loose, lost, problems, kept }: Repair): void {
  io.out(`read ${how}\n`);
  for (const [table, rows] of Object.entries(saved)) io.out(`saved\t${table}\t${rows}\n`);
  for (const [table, rows] of Object.entries(loose))
    io.out(
      `loose\t${table}\t${rows} of these were on pages that no table leads to, and may be old versions\n`,
    );
  for (const one of lost.slice(0, SHOWN)) io.out(`lost\t${printable(one)}\n`);
  if (lost.length > SHOWN) io.out(`lost\tand ${lost.length - SHOWN} more; --json names them all\n`);
  for (const one of problems) io.out(`wrong still\t${printable(one)}\n`);
  io.out(`kept\t${kept === null ? '' : printable(kept)}\n`);
}
