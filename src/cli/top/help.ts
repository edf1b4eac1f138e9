/** A small screen shows only the first lines, so the most important keys come first. */
export const HELP = [
  'queuectl top: keys',
  '',
  '  Tab, right / Shift-Tab, left   next list, previous list',
  '  down, j / up, k                next row, previous row (also PgDn, PgUp, g, G)',
  '  Enter, l                       show the output of the job (f: follow, q: back)',
  '  c                              cancel the job (asks first)',
  '  r                              retry a failed, dead or cancelled job now',
  '  h                              hold a waiting job, or release a held one',
  '  p                              pause or resume the queue of the selected row',
  '  /                              filter the rows by text (Esc: clear the filter)',
  '  ?                              show this help',
  '  Ctrl-L                         redraw the screen',
  '  Ctrl-Z                         suspend; fg continues',
  '  q, Ctrl-C                      quit; running jobs are not affected',
  '',
  'The lists of waiting and failed jobs show the newest 100.',
];
