import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { matches, newOutput, withoutHiddenNotes } from './compare.ts';
import { readPage, type Step, withOutputs } from './page.ts';
import { startShell } from './shell.ts';

const ROOT = resolve(import.meta.dir, '../../..');
/** Pages that scripts generate. Other tests check that they are up to date. */
const GENERATED_PAGES = ['docs/commands.md', 'docs/screens.md'];

/** Returns the pages that are written by hand. */
export function handwrittenPages(): string[] {
  const docs = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'));
  return ['README.md', ...docs.map((name) => `docs/${name}`)]
    .filter((page) => !GENERATED_PAGES.includes(page))
    .sort();
}

export const readPageText = (page: string): string => readFileSync(join(ROOT, page), 'utf8');

export interface Problem {
  where: string;
  command: string;
  exit?: { expected: number | 'error'; actual: number; output: string };
  shown?: string;
  printed?: string;
}

/** Runs the commands of a page in order. Returns the commands whose exit code or output differs from the page. */
export async function runPage(page: string): Promise<Problem[]> {
  return (await tryPage(page)).problems;
}

/** Runs a page and writes the real output into it where that differs. Returns the commands with a wrong exit code. */
export async function updatePage(page: string): Promise<Problem[]> {
  const { problems, outputs } = await tryPage(page);
  const before = readPageText(page);
  const after = withOutputs(before, outputs);
  if (after !== before) writeFileSync(join(ROOT, page), after);
  return problems.filter(({ exit }) => exit !== undefined);
}

async function tryPage(page: string): Promise<{ problems: Problem[]; outputs: Map<Step, string[]> }> {
  const { steps } = readPage(readPageText(page));
  const problems: Problem[] = [];
  const outputs = new Map<Step, string[]>();
  if (steps.length === 0) return { problems, outputs };
  const shell = await startShell();
  try {
    for (const step of steps) {
      const { code, output } = await shell.run(step);
      const at = { where: `${page}:${step.line}`, command: step.command };
      const expected = step.exit;
      if (expected === 'error' ? code === 0 : code !== expected) {
        problems.push({ ...at, exit: { expected, actual: code, output: output.join('\n') } });
        continue;
      }
      if (step.shown === null) continue;
      const visible = withoutHiddenNotes(step.shown, output);
      if (matches(step.shown, visible)) continue;
      problems.push({ ...at, shown: step.shown.join('\n'), printed: visible.join('\n') });
      outputs.set(step, newOutput(step.shown, visible));
    }
  } finally {
    await shell.close();
  }
  return { problems, outputs };
}
