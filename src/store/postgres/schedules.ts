import type { ScheduleStore } from '../contract/schedules.ts';
import type { Connection } from './connection.ts';
import { unwritten } from './unwritten.ts';

export function scheduleStore(_db: Connection): ScheduleStore {
  return unwritten('schedules', [
    'addSchedule',
    'schedules',
    'editSchedule',
    'removeSchedule',
    'pauseSchedule',
    'nextTick',
    'dueSchedules',
    'fire',
    'fireNow',
  ]);
}
