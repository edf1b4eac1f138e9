const NEWLINE = 10;

/** Returns the last `count` lines of a text that comes in pieces. It holds little more than those lines in memory. */
export function lastLines(pieces: Iterable<Uint8Array>, count: number): Uint8Array {
  const kept: { piece: Uint8Array; newlines: number }[] = [];
  let newlines = 0;
  for (const piece of pieces) {
    kept.push({ piece, newlines: countNewlines(piece) });
    newlines += kept.at(-1)!.newlines;
    while (kept.length > 1 && newlines - kept[0]!.newlines > count) newlines -= kept.shift()!.newlines;
  }
  const whole = Buffer.concat(kept.map((one) => one.piece));
  // A newline at the very end belongs to the last line, so the search starts before it.
  let at = whole.length - 1;
  for (let left = count; left > 0 && at >= 0; left--) at = at === 0 ? -1 : whole.lastIndexOf(NEWLINE, at - 1);
  return whole.subarray(at + 1);
}

function countNewlines(piece: Uint8Array): number {
  let newlines = 0;
  for (let at = piece.indexOf(NEWLINE); at !== -1; at = piece.indexOf(NEWLINE, at + 1)) newlines++;
  return newlines;
}
