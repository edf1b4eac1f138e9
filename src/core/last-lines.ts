const NEWLINE = 10;

/** Returns the last `count` lines of a text that comes in pieces. It holds little more than those lines in memory. */
export function lastLines(pieces: Iterable<Uint8Array>, count: number): Uint8Array {
  const kept: { piece: Uint8Array; ends: number }[] = [];
  let ends = 0;
  for (const piece of pieces) {
    kept.push({ piece, ends: countEnds(piece) });
    ends += kept.at(-1)!.ends;
    while (kept.length > 1 && ends - kept[0]!.ends > count) ends -= kept.shift()!.ends;
  }
  const whole = Buffer.concat(kept.map((one) => one.piece));
  // A newline at the very end belongs to the last line, so the search starts before it.
  let at = whole.length - 1;
  for (let left = count; left > 0 && at >= 0; left--) at = at === 0 ? -1 : whole.lastIndexOf(NEWLINE, at - 1);
  return whole.subarray(at + 1);
}

function countEnds(piece: Uint8Array): number {
  let ends = 0;
  for (let at = piece.indexOf(NEWLINE); at !== -1; at = piece.indexOf(NEWLINE, at + 1)) ends++;
  return ends;
}
