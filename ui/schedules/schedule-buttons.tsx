import { scheduling } from '../frame/overlays.ts';
import type { Schedule } from '../types.ts';
import { SCHEDULE } from '../words/schedules.ts';
import { SHARED } from '../words/shared.ts';
import { remove, runNow, togglePaused } from './schedule-acts.ts';

export function ScheduleButtons({ schedule, small = false }: { schedule: Schedule; small?: boolean }) {
  const name = small ? 'small' : '';
  return (
    <>
      <button type="button" class={name} onClick={() => void runNow(schedule.name)}>
        {SHARED.runNow}
      </button>
      <button type="button" class={name} onClick={() => void togglePaused(schedule)}>
        {schedule.paused ? SHARED.resume : SHARED.pause}
      </button>
      <button
        type="button"
        class={name}
        onClick={() => {
          scheduling.value = schedule;
        }}
      >
        {SHARED.edit}
      </button>
      <button type="button" class={`${name} danger-text`} onClick={() => void remove(schedule.name)}>
        {SCHEDULE.remove}
      </button>
    </>
  );
}
