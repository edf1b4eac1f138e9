import type { Snapshot } from '../../actions/top.ts';
import { STATES, type State } from '../../core/job.ts';
import { formatCount } from '../../core/numbers.ts';
import { displayWidth, printable, STATE_COLORS } from '../text.ts';
import { helpLines } from './help.ts';
import { fitLine, type Line, type Look, paintLine } from './line.ts';
import { type Output, outputLines } from './output.ts';
import { paneLines, shareRows } from './pane.ts';
import { PANE_NAMES, type PaneName } from './panes.ts';
import { statusLine } from './status-line.ts';
import { rateNow, rates, sparkline, type Throughput } from './throughput.ts';
import type { Ui } from './ui.ts';

export interface Picture {
  snapshot: Snapshot | null;
  throughput: Throughput;
  ui: Ui;
  output: Output | null;
  now: number;
  /** The path of the store. */
  location: string;
  /** The reason why the snapshot could not be updated, or null. */
  problem: string | null;
}

export interface Size {
  width: number;
  height: number;
}

/** A screen of at least this width has two columns of panes. */
const TWO_COLUMNS = 120;
/** A screen of at least this height shows completed and failed jobs in two lines instead of one. */
const TWO_LINE_HEIGHT = 20;
/** A sparkline covers at least this many seconds. */
const SPARKLINE_S = 300;

/** Draws the whole screen. Returns its lines, each as wide as the screen. */
export function drawScreen(picture: Picture, size: Size, look: Look): string[] {
  const { ui, output } = picture;
  const body = Math.max(0, size.height - 1);
  let lines: Line[];
  if (ui.mode.kind === 'output' && output !== null)
    lines = outputLines(output, ui.mode.top, size.width, body);
  else if (ui.mode.kind === 'help')
    lines = helpLines(size.width)
      .map((text) => [{ text }])
      .slice(ui.mode.top);
  else lines = overview(picture, { ...size, height: body }, look);
  lines = lines.slice(0, body);
  while (lines.length < body) lines.push([]);
  return [...lines, statusLine(picture, size)].map((line) => paintLine(fitLine(line, size.width), look));
}

function overview(picture: Picture, size: Size, look: Look): Line[] {
  const { snapshot, ui, now } = picture;
  const top = [titleLine(picture, size.width)];
  if (snapshot === null) return top;
  top.push(totalsLine(snapshot, size.width), ...throughputLines(picture, size, look));
  const room = size.height - top.length;
  const draw = (names: readonly PaneName[], width: number): Line[] => {
    const shares = shareRows(snapshot, ui, names, room);
    const panes = names.map((name) => paneLines({ snapshot, ui, now }, name, width, shares.get(name)));
    // Empty lines separate the panes if there is room for them.
    const airy = panes.reduce((sum, lines) => sum + lines.length + 1, 0) <= room;
    return panes.flatMap((lines) => (airy ? [[], ...lines] : lines));
  };
  if (size.width < TWO_COLUMNS || room < PANE_NAMES.length) return [...top, ...draw(PANE_NAMES, size.width)];
  const leftWidth = Math.min(72, Math.floor(size.width * 0.4));
  const left = draw(['queues', 'workers'], leftWidth);
  const right = draw(['running', 'waiting', 'failures'], size.width - leftWidth - 3);
  const rows = Array.from({ length: Math.max(left.length, right.length) }, (_, i) => [
    ...fitLine(left[i] ?? [], leftWidth),
    { text: ' │ ', color: 'dim' as const },
    ...(right[i] ?? []),
  ]);
  return [...top, ...rows];
}

function titleLine({ location, problem, now }: Picture, width: number): Line {
  const clock = new Date(now).toTimeString().slice(0, 8);
  const name = 'queuectl top  ';
  const room = Math.max(0, width - name.length - clock.length - 2);
  const status = problem === null ? location : `retrying: ${problem}`;
  const text = fitLine([{ text: printable(status), color: problem === null ? 'dim' : 'red' }], room);
  return [{ text: name, color: 'bold' }, ...text, { text: `  ${clock}` }];
}

/** Returns the count of every state, or only of states with jobs if the line would be too long. */
function totalsLine({ jobs }: Snapshot, width: number): Line {
  const parts = (states: readonly State[], gap: string): Line =>
    states.flatMap((state, i) => [
      { text: i === 0 ? '' : gap },
      { text: `${state} ${formatCount(jobs[state])}`, color: STATE_COLORS[state] },
    ]);
  const long = parts(STATES, '   ');
  if (long.reduce((sum, { text }) => sum + displayWidth(text), 0) <= width) return long;
  return parts(
    STATES.filter((state) => jobs[state] > 0),
    '  ',
  );
}

function throughputLines({ throughput, now }: Picture, { width, height }: Size, { ascii }: Look): Line[] {
  const rateLine = (kind: 'completed' | 'failed', room: number): Line => {
    const label = `${kind}/s `.padEnd(12);
    const rate = rateNow(throughput, kind, now);
    const rateText = rate === 0 ? '0' : rate.toFixed(1);
    const columns = Math.min(SPARKLINE_S, room - label.length - 10);
    // On a narrow screen the numbers are shown without the course.
    if (columns < 1) return [{ text: `${kind}/s ` }, { text: rateText, color: 'bold' }];
    const values = rates(throughput, kind, now, columns, Math.ceil(SPARKLINE_S / columns));
    return [
      { text: label },
      { text: sparkline(values, ascii), color: kind === 'completed' ? 'green' : 'red' },
      { text: rateText.padStart(8), color: 'bold' },
      { text: '  ' },
    ];
  };
  if (height < TWO_LINE_HEIGHT) {
    const half = Math.floor(width / 2);
    return [[...fitLine(rateLine('completed', half), half), ...rateLine('failed', width - half)]];
  }
  return [rateLine('completed', width), rateLine('failed', width)];
}
