import { scheduling } from '../overlays.ts';
import { remove, runNow, togglePaused } from '../schedule-acts.ts';
import type { Schedule } from '../types.ts';

export function ScheduleButtons({ schedule, small = false }: { schedule: Schedule; small?: boolean }) {
  const name = small ? 'small' : '';
  return (
    <>
      <button type="button" class={name} onClick={() => void runNow(schedule.name)}>
        Run now
      </button>
      <button type="button" class={name} onClick={() => void togglePaused(schedule)}>
        {schedule.paused ? 'Resume' : 'Pause'}
      </button>
      <button
        type="button"
        class={name}
        onClick={() => {
          scheduling.value = schedule;
        }}
      >
        Edit
      </button>
      <button type="button" class={`${name} danger-text`} onClick={() => void remove(schedule.name)}>
        Remove
      </button>
    </>
  );
}
