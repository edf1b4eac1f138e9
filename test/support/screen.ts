import { displayWidth } from '../../src/cli/print/text.ts';

/** The screen of a terminal after it has received some text. */
export interface Screen {
  lines: string[];
  /** Whether the alternate screen is shown. */
  alternate: boolean;
  /** Whether the cursor is visible. */
  cursor: boolean;
}

/** Returns the screen after this text. Applies the escape sequences that queuectl uses, ignores colours and wrapping, throws on others. */
export function renderScreen(text: string, rows: number, columns: number): Screen {
  let lines = Array.from({ length: rows }, () => Array<string>(columns).fill(' '));
  let [row, column] = [0, 0];
  let [alternate, cursor] = [false, true];
  // The last sequence may still be incomplete.
  const whole = text.replace(/\x1b(\[[?0-9;]*)?$/, '');
  const clear = (): void => {
    lines = lines.map((line) => line.map(() => ' '));
  };
  for (const [token, numbers, order] of whole.matchAll(/\x1b\[([?0-9;]*)([A-Za-z])|[\s\S]/gu)) {
    if (order === undefined) {
      if (token === '\r') column = 0;
      else if (token === '\n') row = Math.min(row + 1, rows - 1);
      else if (/\p{Cc}/u.test(token)) throw new Error(`control character ${JSON.stringify(token)}`);
      else {
        const wide = displayWidth(token);
        lines[row]![Math.min(column, columns - 1)] = token;
        if (wide === 2 && column + 1 < columns) lines[row]![column + 1] = '';
        column += wide;
      }
    } else if (order === 'H') {
      [row, column] = (numbers === '' ? '1;1' : numbers!).split(';').map((n) => Number(n) - 1) as [
        number,
        number,
      ];
      if (row >= rows) throw new Error(`line ${row} of ${rows}`);
    } else if (order === 'K') lines[row]!.fill(' ', column);
    else if (order === 'J' && numbers === '2') clear();
    else if (order === 'J') for (let i = row; i < rows; i++) lines[i]!.fill(' ', i === row ? column : 0);
    else if (token === '\x1b[?1049h' || token === '\x1b[?1049l') alternate = order === 'h';
    else if (token === '\x1b[?25h' || token === '\x1b[?25l') cursor = order === 'h';
    else if (order !== 'm' && !token.startsWith('\x1b[?7'))
      throw new Error(`unknown ${JSON.stringify(token)}`);
  }
  return { lines: lines.map((line) => line.join('').trimEnd()), alternate, cursor };
}
