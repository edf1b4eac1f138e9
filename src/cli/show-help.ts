import { type Block, renderPage } from './help-page.ts';
import type { Io } from './io.ts';
import { paint } from './text.ts';

/** Prints a help page. If `paged` is true, a page longer than the terminal opens in the user's pager. */
export async function showHelp(
  io: Io,
  blocks: Block[],
  environment: NodeJS.ProcessEnv,
  paged: boolean,
): Promise<void> {
  const painted =
    (color: 'bold' | 'cyan' | 'dim') =>
    (text: string): string =>
      io.color ? paint(text, color) : text;
  const text = renderPage(blocks, {
    width: io.width,
    heading: painted('bold'),
    term: painted('cyan'),
    comment: painted('dim'),
  });
  if (paged && io.tty && text.split('\n').length > io.height) {
    const { pagerCommand, showInPager } = await import('../exec/pager.ts');
    const pager = pagerCommand(environment);
    if (pager !== null && showInPager(text, pager, environment)) return;
  }
  io.out(text);
}
