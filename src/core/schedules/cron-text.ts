import cronstrue from 'cronstrue';
import { orNull } from '../text/language.ts';
import { exactDuration } from '../time/duration.ts';
import type { Timing } from './schedule.ts';

/** Describes in words when a schedule fires. */
export function timingText(timing: Timing): string {
  return timing.kind === 'cron' ? cronText(timing.cron) : `every ${exactDuration(timing.everyMs)}`;
}

function cronText(expression: string): string {
  // The library croner accepts some rare forms that cronstrue does not.
  const given = expression.startsWith('@') ? expression.toLowerCase() : expression.toUpperCase();
  const words = orNull(() => cronstrue.toString(given, { use24HourTimeFormat: true }));
  if (words === null) return expression;
  const text = words.charAt(0).toLowerCase() + words.slice(1);
  return /^at [\d:, and]+$/.test(text) ? `every day ${text}` : text;
}
