/** Below twenty lines of a small screen only the first are seen: the most wanted come first. */
export const HELP = [
  'queuectl top: keys',
  '',
  '  Tab, right / Shift-Tab, left   next list, list before',
  '  down, j / up, k                next row, row before (also PgDn, PgUp, g, G)',
  '  Enter, l                       output of the job: f follows its end, q goes back',
  '  c                              cancel the job (asks)',
  '  r                              retry a failed, dead or cancelled job now',
  '  h                              hold a waiting job, or release it',
  '  p                              pause the queue of the row, or resume it',
  '  /                              show only rows with this text; Esc ends it',
  '  ?                              this help',
  '  Ctrl-L                         draw the screen anew',
  '  Ctrl-Z                         suspend; fg continues',
  '  q, Ctrl-C                      quit; nothing that runs is touched',
  '',
  'Lists of waiting jobs show the newest hundred, failures the last hundred.',
];
