import { readdirSync, readFileSync } from 'node:fs';

/** Every crash point there is, read from the source: three for each write of the store, and those that are spelt out. */
export function allPoints(): string[] {
  const root = `${import.meta.dir}/../../src`;
  const points = new Set<string>();
  for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.ts')) continue;
    const text = readFileSync(`${root}/${name}`, 'utf8');
    for (const [, point] of text.matchAll(/crashPoint\('([\w-]+)'\)/g)) points.add(point!);
    for (const [, verb] of text.matchAll(/(?:\.write|each)\('(\w+)',/g))
      for (const when of ['before', 'in', 'after']) points.add(`${when}-${verb}`);
  }
  return [...points].sort();
}
