/** Draws bar charts as SVG. The colors follow the color scheme of the reader. */

export interface Bar {
  label: string;
  value: number;
  isOwn: boolean;
}

export interface Panel {
  title: string;
  bars: Bar[];
}

const WIDTH = 760;
const LABELS_WIDTH = 330;
const VALUES_WIDTH = 70;
const BAR_HEIGHT = 16;
const LINE_HEIGHT = 26;
const PANEL_GAP = 22;
const MARGIN = 12;

const STYLE = `text { font: 13px system-ui, sans-serif; fill: #24292f } .title { font-weight: 600 } .own { font-weight: 600 }
    rect { fill: #a8b1bd } rect.own { fill: #1f6feb }
    @media (prefers-color-scheme: dark) { text { fill: #e6edf3 } rect { fill: #59636e } rect.own { fill: #4493f8 } }`;

/** Draws one panel below the other. Each panel has a scale of its own, and the largest value comes first. */
export function chart(title: string, unit: string, panels: Panel[]): string {
  let y = MARGIN;
  const parts = panels.flatMap(({ title: heading, bars }) => {
    const most = Math.max(...bars.map((bar) => bar.value));
    const head = `<text class="title" x="${MARGIN}" y="${y + BAR_HEIGHT - 3}">${escapeXml(heading)}</text>`;
    y += LINE_HEIGHT;
    const lines = [...bars]
      .sort((a, b) => b.value - a.value)
      .map((bar) => {
        const line = drawBar(bar, y, bar.value / most, unit);
        y += LINE_HEIGHT;
        return line;
      });
    y += PANEL_GAP;
    return [head, ...lines];
  });
  const height = y - PANEL_GAP + MARGIN;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img">
  <title>${escapeXml(title)}</title>
  <style>${STYLE}</style>
${parts.map((part) => `  ${part}\n`).join('')}</svg>
`;
}

function drawBar({ label, value, isOwn }: Bar, y: number, share: number, unit: string): string {
  const className = isOwn ? ' class="own"' : '';
  const width = Math.max(1, Math.round(share * (WIDTH - LABELS_WIDTH - VALUES_WIDTH - 2 * MARGIN)));
  const baseline = y + BAR_HEIGHT - 3;
  const amount = `${Math.round(value).toLocaleString('en')}${unit}`;
  return [
    `<text${className} x="${LABELS_WIDTH}" y="${baseline}" text-anchor="end">${escapeXml(label)}</text>`,
    `<rect${className} x="${LABELS_WIDTH + 10}" y="${y}" width="${width}" height="${BAR_HEIGHT}" rx="2"/>`,
    `<text${className} x="${LABELS_WIDTH + 16 + width}" y="${baseline}">${amount}</text>`,
  ].join('');
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
