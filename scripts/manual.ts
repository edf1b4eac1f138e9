/**
 * Puts the sections of docs/ that `queuectl help TOPIC` prints into src/cli/manual.generated.ts. Git ignores that file.
 * Every build and check first creates it.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { TOPICS } from '../src/cli/help/help.ts';
import type { Block, HelpRow } from '../src/cli/help/help-page.ts';

const TARGET = 'src/cli/manual.generated.ts';

/** Returns the text of a section of the manual with its subsections. */
function sectionText(section: string): string {
  const [page, anchor] = section.split('#');
  const text = readFileSync(`docs/${page}.md`, 'utf8');
  // A line that starts with # in a block of code is a comment.
  const headings = [...text.replace(/^```[\s\S]*?^```/gm, hidden).matchAll(/^(#+) (.*)$/gm)];
  const at = headings.findIndex(([, , title]) => anchorOf(title!) === anchor);
  if (at === -1) throw new Error(`docs/${page}.md has no section ${anchor}`);
  const end = headings.slice(at + 1).find(([, marks]) => marks!.length <= headings[at]![1]!.length);
  return text.slice(headings[at]!.index, end?.index);
}

const hidden = (text: string): string => ' '.repeat(text.length);

const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^\w -]/g, '')
    .replaceAll(' ', '-');

/** Returns the blocks of a help page for Markdown as this manual uses it. */
function blocksOf(markdown: string): Block[] {
  const parts = markdown.match(
    /^```[\s\S]*?^```$|^<!--[\s\S]*?-->$|^#+ .*$|^\|.*(?:\n\|.*)*|^- .*(?:\n(?! *- | *$| *```).*)*|^(?!- |\||#|```).+(?:\n(?!- |\||#|```).+)*/gm,
  );
  return parts!.flatMap((part): Block[] => {
    if (part.startsWith('```')) return codeBlock(part);
    if (part.startsWith('<!--')) return [];
    if (part.startsWith('#')) return [{ heading: plain(part.replace(/^#+ /, '')) }];
    if (part.startsWith('|')) return [tableRows(part)];
    return [plain(part)];
  });
}

/** Returns a block of code. Of an example in a terminal, only the commands are kept. */
function codeBlock(part: string): Block[] {
  const [head, ...lines] = part.split('\n').slice(0, -1);
  if (head === '```mermaid') return [];
  if (head !== '```console') return [{ code: lines }];
  return [{ code: lines.filter((line) => /^[$>] /.test(line)).map((line) => line.slice(2)) }];
}

/** Returns the rows of a table. The texts after the second column get the title of their column. */
function tableRows(part: string): HelpRow[] {
  const [titles, , ...rows] = part.split('\n').map((line) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => plain(cell.trim().replaceAll('\\|', '|'))),
  );
  return rows.map(([term, ...texts]): HelpRow => {
    const [first, ...more] = texts.map((text) => text.replace(/\.$/, ''));
    const titled = more.map((text, i) => (text === '' ? '' : `. ${capital(titles![i + 2]!)}: ${text}`));
    return [term!, more.length === 0 ? texts[0]! : `${first}${titled.join('')}.`];
  });
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Returns Markdown text without its marks. Code of more than one word is quoted within a sentence. */
function plain(text: string): string {
  const isAllCode = /^`[^`]*`$/.test(text);
  return text
    .replace(/\s+/g, ' ')
    .split('`')
    .map((piece, i) => {
      if (i % 2 === 1) return piece.includes(' ') && !isAllCode ? `'${piece}'` : piece;
      return piece
        .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .replace(/\[|\]\([^)]*\)/g, '')
        .replace(/\*{1,2}([^*]+)\*{1,2}/g, '$1')
        .replace(/\\([\\*_<>`|])/g, '$1');
    })
    .join('');
}

const pages = Object.entries(TOPICS).map(([name, { sections }]) => [
  name,
  sections.flatMap((section) => blocksOf(sectionText(section))),
]);
writeFileSync(
  TARGET,
  `/** Made by scripts/manual.ts from docs/. */\nimport type { Block } from './help/help-page.ts';\n\nexport const MANUAL: Record<string, Block[]> = ${JSON.stringify(Object.fromEntries(pages))};\n`,
);
