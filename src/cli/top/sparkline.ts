const BLOCKS = ['·', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const ASCII = ['.', '_', ':', '-', '=', '+', '*', '%', '#'];

/** Returns a character for each value. Only 0 looks like 0. */
export function sparkline(values: number[], ascii: boolean): string {
  const marks = ascii ? ASCII : BLOCKS;
  const top = Math.max(...values);
  return values
    .map((value) => (value <= 0 ? marks[0] : marks[Math.max(1, Math.round((value / top) * 8))]))
    .join('');
}
