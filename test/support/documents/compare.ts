/** Compares the output that a page shows with the output that the program prints. */

const ELLIPSIS = '…';

/** Patterns of text that differs between runs, and their placeholders. The order matters: AGO matches the placeholder DURATION. */
const VARYING_TEXTS: [pattern: RegExp, name: string][] = [
  [/\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?/g, 'TIME'],
  [/\b\d[0-9a-z]{12}\b/g, 'ID'],
  [/\b[0-9a-f]{12}\b(?:\s+\d+\b)?/g, 'WORKER'],
  [/\b(pids?[=: ]+)\d+(?:, \d+)*/g, '$1PID'],
  [/(_ms"?: ?|_at"?: ?)\d+/g, '$1NUMBER'],
  // The pattern matches only the form that the program prints, so that another form on a page is an error.
  [/\b(?:\d{1,3}ms|\d\.\ds|\d+s|\d+m(?: \d+s)?|\d+h(?: \d+m)?|\d+d(?: \d+h)?)\b/g, 'DURATION'],
  [/DURATION ago|\b(?:just )?now\b/g, 'AGO'],
  [/\b\d+(?:\.\d+)? ?(?:[KMGT]iB|[KMGT]B?)\b/g, 'SIZE'],
  [/\s+/g, ' '],
];

export function withPlaceholders(line: string): string {
  return VARYING_TEXTS.reduce((text, [pattern, name]) => text.replace(pattern, name), line).trim();
}

/** Returns the output, without the notes in it if the page shows no notes. */
export function withoutHiddenNotes(shown: string[], actual: string[]): string[] {
  const isNote = (line: string): boolean => line.startsWith('note:');
  return shown.some(isNote) ? actual : actual.filter((line) => !isNote(line));
}

/** Tells whether the output is the one that the page shows, apart from ids, times and the like. */
export function matches(shown: string[], actual: string[]): boolean {
  const [first, ...rest] = shown;
  if (first === undefined) return actual.length === 0;
  if (first === ELLIPSIS)
    return Array.from({ length: actual.length + 1 }, (_, skipped) => skipped).some((skipped) =>
      matches(rest, actual.slice(skipped)),
    );
  return actual.length > 0 && lineMatches(first, actual[0]!) && matches(rest, actual.slice(1));
}

/** Compares two lines. Each may be shortened with `…`: on the page by hand, and in the output by a column's width. */
function lineMatches(shown: string, actual: string): boolean {
  return patternOf(shown).test(withPlaceholders(actual)) || patternOf(actual).test(withPlaceholders(shown));
}

function patternOf(line: string): RegExp {
  const parts = withPlaceholders(line).split(ELLIPSIS);
  return new RegExp(`^${parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('.*')}$`);
}

/** Returns the output for the page, with `…` instead of lines that the page leaves out. */
export function newOutput(shown: string[], actual: string[]): string[] {
  if (!shown.includes(ELLIPSIS)) return actual;
  const wanted = shown.filter((line) => line !== ELLIPSIS);
  const kept = alignment(wanted, actual);
  const result: string[] = [];
  actual.forEach((line, at) => {
    if (kept.has(at)) result.push(line);
    else if (result.at(-1) !== ELLIPSIS) result.push(ELLIPSIS);
  });
  return result.length > 0 ? result : [ELLIPSIS];
}

/** Pairs the wanted lines in order with the most similar output lines. Returns the indexes of those output lines. */
function alignment(wanted: string[], actual: string[]): Set<number> {
  const best = Array.from({ length: wanted.length + 1 }, () =>
    Array.from({ length: actual.length + 1 }, () => ({ score: 0, kept: [] as number[] })),
  );
  for (let i = 1; i <= wanted.length; i++)
    for (let j = 1; j <= actual.length; j++) {
      const before = best[i - 1]![j - 1]!;
      const likeness = similarity(wanted[i - 1]!, actual[j - 1]!);
      const paired = { score: before.score + likeness, kept: [...before.kept, j - 1] };
      const others = [best[i - 1]![j]!, best[i]![j - 1]!];
      best[i]![j] = others.reduce(
        (a, b) => (b.score > a.score ? b : a),
        likeness > 0 ? paired : { score: 0, kept: [] },
      );
    }
  return new Set(best[wanted.length]![actual.length]!.kept);
}

/** Returns the share of words that two lines have in common, from 0 to 1. */
function similarity(a: string, b: string): number {
  const [one, other] = [words(a), words(b)];
  const common = [...one].filter((word) => other.has(word)).length;
  return common / Math.max(one.size, other.size, 1);
}

const words = (line: string): Set<string> => new Set(withPlaceholders(line).split(/\W+/).filter(Boolean));
