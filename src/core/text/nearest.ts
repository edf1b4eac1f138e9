/**
 * Returns the candidate that differs from the word by the fewest typing errors. Case is ignored. Returns null if all candidates
 * differ by more than `maxErrors` errors, which is at most 2, or by more than one if the word has fewer than five letters. A word
 * of up to three letters must begin like the candidate, because otherwise half of it is different.
 */
export function nearest(word: string, candidates: Iterable<string>, maxErrors = 2): string | null {
  let best: string | null = null;
  let bestDistance = Math.min(maxErrors, word.length < 5 ? 1 : 2) + 1;
  for (const candidate of candidates) {
    if (word.length < 4 && word[0]?.toLowerCase() !== candidate[0]?.toLowerCase()) continue;
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase(), bestDistance);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Returns a question with the nearest candidate, to append to a message. Returns an empty text if no candidate is near. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const guess = nearest(word, candidates);
  return guess === null ? '' : `; did you mean '${guess}'?`;
}

/** Counts typing errors: missing, extra, wrong or swapped letters. Returns `limit` if the lengths differ by at least that much. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let rowBeforeLast: number[] = [];
  let lastRow = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(lastRow[j]! + 1, row[j - 1]! + 1, lastRow[j - 1]! + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, rowBeforeLast[j - 2]! + 1);
      }
      row.push(cost);
    }
    rowBeforeLast = lastRow;
    lastRow = row;
  }
  return lastRow[b.length]!;
}
