import { displayWidth, printable } from '../text.ts';
import type { Picture, Size } from './frame.ts';
import { helpLines } from './help.ts';
import type { Line } from './line.ts';
import { outputStatus } from './output.ts';

/** A narrow screen shows only the first keys, so the most important ones come first. */
const KEYS = 'q quit|? help|Tab next|l output|c cancel|r retry|p pause|h hold|/ filter|↑↓ move'.split('|');
const OUTPUT_KEYS = ['q back', 'f follow', '↑↓ scroll', 'g top', 'G end'];

/** Draws the last line. Depending on the mode, it shows a question, the typed filter, a message or the keys. */
export function statusLine({ ui, output }: Picture, { width, height }: Size): Line {
  const { mode, message, filter } = ui;
  if (mode.kind === 'confirm') return [{ text: `${printable(mode.question)} y/n `, color: 'yellow' }];
  if (mode.kind === 'filter') return [{ text: `/${printable(filter)}_`, color: 'bold' }];
  if (mode.kind === 'help') return [helpStatus(width, height)];
  if (message !== '') return [{ text: printable(message), color: 'bold' }];
  if (mode.kind === 'output' && output !== null) {
    const where = `${printable(outputStatus(output, mode.top))}  `;
    return [{ text: where, color: 'bold' }, keysThatFit(OUTPUT_KEYS, width - displayWidth(where))];
  }
  const filterText = filter === '' ? '' : `filter: ${printable(filter)} (Esc clears it)  `;
  return [{ text: filterText, color: 'yellow' }, keysThatFit(KEYS, width - displayWidth(filterText))];
}

function helpStatus(width: number, height: number): { text: string; color: 'dim' } {
  const scrolls = helpLines(width).length > height - 1;
  return { text: scrolls ? '↑↓ scroll  any other key: back' : 'press any key to go back', color: 'dim' };
}

function keysThatFit(all: string[], room: number): { text: string; color: 'dim' } {
  let text = '';
  for (const key of all) {
    const longer = text === '' ? key : `${text}  ${key}`;
    if (displayWidth(longer) > room) break;
    text = longer;
  }
  return { text, color: 'dim' };
}
