import { exactDuration } from './duration.ts';
import type { Timing } from './schedule.ts';

const SHORTHAND_TEXTS: Record<string, string> = {
  '@hourly': 'every hour',
  '@daily': 'every day at 00:00',
  '@midnight': 'every day at 00:00',
  '@weekly': 'every Sunday at 00:00',
  '@monthly': 'on day 1 of every month at 00:00',
  '@yearly': 'at 00:00 on January 1',
  '@annually': 'at 00:00 on January 1',
};
/** The names of the weekdays by their numbers. Sunday is both 0 and 7. */
const DAY_NAMES = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const MONTH_NAMES =
  'January February March April May June July August September October November December'.split(' ');
const ORDINALS = ['', 'first', 'second', 'third', 'fourth', 'fifth'];
/** A description lists up to this many times of day. */
const MAX_LISTED_TIMES = 6;

/** Describes in words when a schedule fires. */
export function timingText(timing: Timing): string {
  return timing.kind === 'cron' ? cronText(timing.cron) : `every ${exactDuration(timing.everyMs)}`;
}

function cronText(expression: string): string {
  const text = expression.trim().toLowerCase();
  const shorthandText = SHORTHAND_TEXTS[text];
  if (shorthandText !== undefined) return shorthandText;
  const [minute = '*', hour = '*', day = '*', month = '*', weekday = '*'] = text.split(/\s+/);
  const isSingleDate = numbersIn(day)?.length === 1 && numbersIn(month)?.length === 1 && weekday === '*';
  if (isSingleDate) return `${timeText(minute, hour)} on ${monthName(month)} ${Number(day)}`;
  const months = month === '*' ? '' : `in ${listText(month, monthName)}`;
  const dateParts = [daysText(day, weekday), months].filter((part) => part !== '');
  const time = timeText(minute, hour);
  if (dateParts.length > 0) return `${time}, ${dateParts.join(' ')}`;
  return /^at \d\d:/.test(time) ? `every day ${time}` : time;
}

function timeText(minute: string, hour: string): string {
  const [minutes, hours] = [numbersIn(minute), numbersIn(hour)];
  if (minutes !== null && hours !== null && minutes.length * hours.length <= MAX_LISTED_TIMES)
    return `at ${joinWithAnd(hours.flatMap((h) => minutes.map((m) => `${pad(h)}:${pad(m)}`)))}`;
  const hoursPart = hour === '*' ? '' : `, ${hoursText(hour)}`;
  const step = /^\*\/(\d+)$/.exec(minute)?.[1];
  if (minute === '*') return `every minute${hoursPart}`;
  if (step !== undefined) return `every ${step} minutes${hoursPart}`;
  if (minute === '0') return hour === '*' ? 'every hour' : `on the hour${hoursPart}`;
  return `at ${minutes?.length === 1 ? 'minute' : 'minutes'} ${listText(minute, String)}${hoursPart || ' of every hour'}`;
}

function hoursText(hour: string): string {
  const step = /^\*\/(\d+)$/.exec(hour)?.[1];
  if (step !== undefined) return `every ${step} hours`;
  const range = /^(\d+)-(\d+)$/.exec(hour);
  if (range !== null) return `from ${pad(Number(range[1]))}:00 to ${pad(Number(range[2]))}:59`;
  return `in ${numbersIn(hour)?.length === 1 ? 'hour' : 'hours'} ${listText(hour, String)}`;
}

/** Describes the days. If both fields are set, the schedule fires on days that match either of them. */
function daysText(day: string, weekday: string): string {
  const parts: string[] = [];
  if (day === 'l') parts.push('on the last day of the month');
  else if (day !== '*' && day !== '?') {
    const step = /^\*\/(\d+)$/.exec(day)?.[1];
    const isSingle = numbersIn(day)?.length === 1;
    parts.push(
      step !== undefined
        ? `every ${step} days`
        : `on ${isSingle ? 'day' : 'days'} ${listText(day, String)} of the month`,
    );
  }
  if (weekday !== '*' && weekday !== '?') parts.push(`on ${listText(weekday, dayName)}`);
  return parts.join(' or ');
}

/** Describes a field such as `1,2`, `9-17` or `mon-fri/2`. `nameOf` returns the name of one value. */
function listText(field: string, nameOf: (value: string) => string): string {
  return joinWithAnd(
    field.split(',').map((part) => {
      const [range = '', step] = part.split('/');
      const [from = '', to] = range.split('-');
      const words =
        range === '*' ? 'all' : to === undefined ? nameOf(from) : `${nameOf(from)} to ${nameOf(to)}`;
      return step === undefined ? words : `${words} in steps of ${step}`;
    }),
  );
}

function dayName(value: string): string {
  const [day = '', nth] = value.split('#');
  const last = /^(.+)l$/.exec(day)?.[1];
  if (last !== undefined) return `the last ${dayName(last)} of the month`;
  const name =
    DAY_NAMES[Number(day)] ?? DAY_NAMES.find((known) => known.toLowerCase().startsWith(day)) ?? day;
  return nth === undefined ? name : `the ${ORDINALS[Number(nth)] ?? nth} ${name} of the month`;
}

function monthName(value: string): string {
  const isMeant = (name: string): boolean => name.toLowerCase().startsWith(value);
  return MONTH_NAMES[Number(value) - 1] ?? MONTH_NAMES.find(isMeant) ?? value;
}

/** Returns the numbers in a field such as `1,15`, or null if the field has another form. */
function numbersIn(field: string): number[] | null {
  return /^\d+(,\d+)*$/.test(field) ? field.split(',').map(Number) : null;
}

function joinWithAnd(words: string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}

const pad = (value: number): string => String(value).padStart(2, '0');
