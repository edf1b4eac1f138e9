import { clock } from '../parts/format.ts';
import { Ago, Time } from '../parts/time.tsx';
import type { Times } from '../types.ts';
import { SCHEDULE } from '../words/schedules.ts';

const HERE = new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Returns the time in the time zone of the schedule, if that differs from the local one. */
function elsewhere(at: string, zone: string | null): string {
  if (zone === null || zone === HERE) return '';
  return SCHEDULE.inZone(clock(new Date(at), zone), zone);
}

/** Lists the next runs. */
export function NextTimes({ next_runs, timezone }: Pick<Times, 'next_runs' | 'timezone'>) {
  return (
    <ol class="times">
      {next_runs.map((at) => (
        <li key={at}>
          <Time at={at} />{' '}
          <span class="faint">
            <Ago at={at} />
            {elsewhere(at, timezone)}
          </span>
        </li>
      ))}
    </ol>
  );
}
