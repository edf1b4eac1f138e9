import { readdirSync, readFileSync } from 'node:fs';

const ROOT = `${import.meta.dir}/../../src`;
/** Matches a call of crashPoint, even if it spans several lines. */
const POINT = /\bcrashPoint\(\s*'([\w-]+)'\s*,?\s*\)/g;
const WRITE = /(?:\.write|\beach)\(\s*'(\w+)'\s*,/g;

/** Returns every crash point in the source: three for each write of the store, and those of crashPoint calls. */
export function allPoints(): string[] {
  const files = readdirSync(ROOT, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  return pointsIn(files.map((name) => readFileSync(`${ROOT}/${name}`, 'utf8')));
}

export function pointsIn(sources: string[]): string[] {
  const points = new Set<string>();
  for (const text of sources) {
    for (const [, point] of text.matchAll(POINT)) points.add(point!);
    for (const [, verb] of text.matchAll(WRITE))
      for (const when of ['before', 'in', 'after']) points.add(`${when}-${verb}`);
  }
  return [...points].sort();
}
