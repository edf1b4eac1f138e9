import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Patch } from './patched-source.ts';

const SOURCE_DIRECTORY = resolve(import.meta.dir, '../../src');
const MARK = / \/\/ fault-control: ([\w-]+)$/;

/** A place in the source that ends with `// fault-control: NAME`, because a control removes a safeguard there. */
export interface MarkedPlace {
  name: string;
  file: string;
  /** The code before the mark: one line, or all of a template literal that ends there. */
  code: string;
}

/** Returns every marked place. A mark that occurs twice is returned twice. */
export function markedPlaces(): MarkedPlace[] {
  const files = readdirSync(SOURCE_DIRECTORY, { recursive: true, encoding: 'utf8' });
  const handwritten = files.filter((file) => file.endsWith('.ts') && !file.endsWith('.generated.ts'));
  return handwritten.flatMap((file) => placesIn(file, readFileSync(join(SOURCE_DIRECTORY, file), 'utf8')));
}

/** Returns the marked places of one file. */
export function placesIn(file: string, text: string): MarkedPlace[] {
  const lines = text.split('\n');
  return lines.flatMap((line, last) => {
    const name = MARK.exec(line)?.[1];
    if (name === undefined) return [];
    const first = isLiteralEdge(line)
      ? lines.findLastIndex((one, i) => i < last && isLiteralEdge(one))
      : last;
    return [
      {
        name,
        file,
        code: lines
          .slice(first, last + 1)
          .join('\n')
          .replace(MARK, ''),
      },
    ];
  });
}

/** Returns whether a template literal of several lines begins or ends on this line. */
function isLiteralEdge(line: string): boolean {
  return line.split('`').length % 2 === 0;
}

const places = markedPlaces();

/** Returns a patch that replaces all code of the marked place. */
export function patchAt(mark: string, to: string): Patch {
  return patchWithin(mark, placeOf(mark).code.trim(), to);
}

/** Returns a patch that replaces a part of the marked place. Throws unless the part occurs there exactly once. */
export function patchWithin(mark: string, from: string, to: string): Patch {
  const { file, code } = placeOf(mark);
  const parts = code.split(from);
  if (parts.length !== 2) throw new Error(`the code of '${mark}' has ${parts.length - 1} times: ${from}`);
  return { file, from: `${code} // fault-control: ${mark}`, to: parts.join(to) };
}

/** Returns the place of a mark. Throws unless the mark occurs exactly once in the source. */
function placeOf(mark: string): MarkedPlace {
  const [place, ...others] = places.filter(({ name }) => name === mark);
  if (place !== undefined && others.length === 0) return place;
  throw new Error(`src/ has ${place === undefined ? 'no' : 'more than one'} mark '${mark}'`);
}
