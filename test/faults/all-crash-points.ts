import { readdirSync, readFileSync } from 'node:fs';

const SOURCE_DIRECTORY = `${import.meta.dir}/../../src`;
/** Matches a call of crashPoint, even if it spans several lines. */
const CRASH_POINT_CALL = /\bcrashPoint\(\s*'([\w-]+)'\s*,?\s*\)/g;
/** Matches steps with a point before and after them, and captures their name, and the first step if there are two. */
const STEPS = /\binSteps\(\s*'([\w-]+)',\s*(\w+, )?\(\) =>/g;
/** Matches the name of the points of an atomic write. */
const ATOMIC_WRITE = /\bpoint: '([\w-]+)'/g;
/** Matches a call that writes to the store, and captures its verb. */
const STORE_WRITE = /(?:\.write|\bchangeEach)\(\s*'(\w+)'\s*,/g;

/** Returns every crash point in the source: three for each verb of the store, and those of crashPoint calls. */
export function allPoints(): string[] {
  const files = readdirSync(SOURCE_DIRECTORY, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  return pointsIn(files.map((name) => readFileSync(`${SOURCE_DIRECTORY}/${name}`, 'utf8')));
}

export function pointsIn(sources: string[]): string[] {
  const points = new Set<string>();
  for (const text of sources) {
    for (const [, point] of text.matchAll(CRASH_POINT_CALL)) points.add(point!);
    for (const [, name, first] of text.matchAll(STEPS))
      for (const when of first === undefined ? ['before', 'after'] : ['before', 'in', 'after'])
        points.add(`${when}-${name}`);
    for (const [, verb] of [...text.matchAll(STORE_WRITE), ...text.matchAll(ATOMIC_WRITE)])
      for (const when of ['before', 'in', 'after']) points.add(`${when}-${verb}`);
  }
  return [...points].sort();
}
