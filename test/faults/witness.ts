import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lines } from '../support/queuectl.ts';

/** One line that a job wrote itself: S at its start, E at its end. The order of the lines is the order of events. */
export interface WitnessLine {
  what: 'S' | 'E';
  job: string;
  attempt: number;
  fence: number;
  pid: number;
  /** The start time of the process, in clock ticks since boot. */
  born: string;
  /** The exit code with which the job is about to end, or null at its start. */
  code: number | null;
}

const LOG = 'witness.log';

/** Writes each line without an extra process and with one write to the end of the log, so that lines do not mix. */
const SCRIPT = `read -r stat </proc/$$/stat
set -- $stat
born=\${22}
say() {
  echo "$1 $QUEUECTL_JOB_ID $QUEUECTL_ATTEMPT $QUEUECTL_FENCE $$ $born $2" >>${LOG}
}
witnessed() {
  say S -
  [ "$1" = 0 ] || sleep "$1"
  say E "$2"
  exit "$2"
}
`;

export function writeWitnessScript(directory: string): void {
  writeFileSync(join(directory, 'witness.sh'), SCRIPT);
}

/** Returns a command that records its start, sleeps for `seconds`, records its end and exits with `code`. */
export function witnessed(seconds: number, code = 0): string {
  return `. ./witness.sh; witnessed ${seconds} ${code}`;
}

export function readWitness(directory: string): WitnessLine[] {
  return lines(join(directory, LOG)).map(parse);
}

function parse(line: string): WitnessLine {
  const [what, job, attempt, fence, pid, born, code] = line.split(' ');
  if ((what !== 'S' && what !== 'E') || job === undefined || code === undefined)
    throw new Error(`not a line of a witness: ${line}`);
  return {
    what,
    job,
    attempt: Number(attempt),
    fence: Number(fence),
    pid: Number(pid),
    born: born!,
    code: code === '-' ? null : Number(code),
  };
}
