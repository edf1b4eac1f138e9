import { readdirSync, readFileSync } from 'node:fs';

export interface Pattern {
  /** File and line, such as `src/core/jobs/id.ts:63`. */
  where: string;
  regex: RegExp;
}

/**
 * Matches a regular expression literal: it starts where an operand may start, ends on the same line, and is followed
 * by punctuation or the end of the line.
 */
const LITERAL =
  /(?:^|[=(,:!&|?{}[;>]|\breturn)\s*\/((?![*/])(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\[])+)\/([dgimsuyv]*)(?=\s*(?:$|[.,;)\]}:?]))/g;
/** Files to skip. The generated bundle of the dashboard only repeats ui/ and its packages. */
const SKIPPED_FILES = /\.generated\.ts$|\.d\.ts$/;

/** Returns the regular expression literals in these directories, each once. */
export function patternsIn(directories: string[]): Pattern[] {
  const patterns = literalsIn(directories);
  return [...new Map(patterns.map((pattern) => [String(pattern.regex), pattern])).values()];
}

function literalsIn(directories: string[]): Pattern[] {
  return sourceFiles(directories).flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line, i) =>
        /^\s*(\*|\/\/|\/\*)/.test(line)
          ? []
          : [...line.matchAll(LITERAL)].map(([, source, flags]) => ({
              where: `${file}:${i + 1}`,
              regex: new RegExp(source!, flags),
            })),
      ),
  );
}

/** Returns the files that build regular expressions out of strings, which patternsIn() cannot find. */
export function filesWithConstructors(directories: string[]): string[] {
  return sourceFiles(directories).filter((file) => /\bRegExp\(/.test(readFileSync(file, 'utf8')));
}

function sourceFiles(directories: string[]): string[] {
  return directories.flatMap((directory) =>
    readdirSync(directory, { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name) && !SKIPPED_FILES.test(name))
      .map((name) => `${directory}/${name}`),
  );
}

/** A text that is hard to match: a prefix, a repeated unit and a suffix. */
export interface Attack {
  prefix: string;
  unit: string;
  suffix: string;
}

/** Characters to try for each character class of a pattern. */
const ALPHABET = [...'a1A _-.:/="\'\n\r\t;,|&({[#@$\\<>+\x1b\x00é…'];
/** Attacks use at most this many pieces of a pattern, and `x`. The number of attacks grows with the cube of it. */
const MAX_PIECES = 7;

/** Builds attacks from the pieces of a pattern. Repeating a text that a part accepts can make the pattern backtrack. */
export function attacksOn({ source, flags }: RegExp): Attack[] {
  const pieces = piecesOf(source, flags);
  const units = [...pieces, ...pieces.flatMap((a) => pieces.filter((b) => a !== b).map((b) => a + b))];
  return ['', ...pieces].flatMap((prefix) =>
    units.flatMap((unit) => ['', '\0'].map((suffix) => ({ prefix, unit, suffix }))),
  );
}

/** Returns literal texts of a pattern, characters that its atoms accept (at most two for each), and `x`. */
function piecesOf(source: string, flags: string): string[] {
  const atoms = source.match(/\\[pP]\{[^}]*\}|\\[^bB]|\[(?:\\.|[^\]\\])*\]|[^()[\]|?*+^$]/g) ?? [];
  const words = source.match(/(?:[\w:/ -]|\\[/.-])+/g) ?? [];
  const pieces = new Set<string>();
  for (const word of words.map((one) => one.replaceAll('\\', ''))) if (word.length > 1) pieces.add(word);
  for (const atom of atoms) {
    const accepts = tester(atom, flags);
    const found = [...(atom.length === 1 ? atom : ''), ...ALPHABET].filter((char) => accepts(char));
    for (const char of [found[0], found.at(-1)]) if (char !== undefined) pieces.add(char);
  }
  return [...pieces].slice(0, MAX_PIECES).concat('x');
}

function tester(atom: string, flags: string): (char: string) => boolean {
  try {
    const regex = new RegExp(`^(?:${atom})$`, flags.replace(/[gy]/g, ''));
    return (char) => regex.test(char);
  } catch {
    return () => false;
  }
}

export function textOf({ prefix, unit, suffix }: Attack, length: number): string {
  const text = prefix + unit.repeat(Math.ceil(length / unit.length)) + suffix;
  // The engine joins the parts of the string when it is first read. Reading it here keeps that out of the measurement.
  text.charCodeAt(text.length >> 1);
  return text;
}

/** Returns the CPU time in ms to find the first match in the text, or to replace all matches if the pattern is global. */
export function timeToMatch(regex: RegExp, text: string, tries = 1): number {
  return timeToRun(() => (regex.global ? text.replace(regex, '') : regex.test(text)), tries);
}

/** Returns the lowest CPU time of `tries` runs in ms. CPU time does not include other processes. */
export function timeToRun(work: () => unknown, tries: number): number {
  let best = Number.POSITIVE_INFINITY;
  for (let i = 0; i < tries; i++) {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, (user + system) / 1000);
  }
  // The CPU clock advances in steps, so the result could be 0.
  return Math.max(best, 0.001);
}

/** Returns the attack that takes longest at this length. Stops at the first that takes longer than `enoughMs`. */
export function worstAttack(
  regex: RegExp,
  attacks: Attack[],
  length: number,
  enoughMs: number,
): { attack: Attack; time: number } {
  let worst = { attack: attacks[0]!, time: 0 };
  for (const attack of attacks) {
    const text = textOf(attack, length);
    // The wall clock is quicker to read but includes other processes, so it only selects attacks to measure.
    const start = performance.now();
    if (regex.global) text.replace(regex, '');
    else regex.test(text);
    if (performance.now() - start <= worst.time) continue;
    const time = timeToMatch(regex, text, 5);
    if (time > worst.time) worst = { attack, time };
    if (time > enoughMs) break;
  }
  return worst;
}

/** Returns the CPU time in ms that a linear pattern needs for a text of this length. */
export function linearTime(length: number): number {
  return timeToMatch(/([a-z])(\d) /g, textOf({ prefix: '', unit: 'a1 ', suffix: '' }, length), 20);
}
