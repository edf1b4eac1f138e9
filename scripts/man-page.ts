import { GLOBAL_FLAGS } from '../src/cli/frame/parse-flags.ts';
import { ABOUT, commandParts, flagRows, signature, TOPICS, topicPage } from '../src/cli/help/help.ts';
import type { Block } from '../src/cli/help/help-page.ts';
import { VERSION } from '../src/core/version.ts';
import { allCommands } from './all-commands.ts';

/** Returns queuectl(1) in roff, made from the command table and the help topics. */
export async function manPage(): Promise<string> {
  const sections = await allCommands();
  const topics = await Promise.all(
    Object.keys(TOPICS).map(async (name) => [name, await topicPage(name)] as const),
  );
  return `${[
    `.TH QUEUECTL 1 "" "queuectl ${VERSION}" "User Commands"`,
    '.SH NAME',
    'queuectl \\- a job queue for shell commands',
    '.SH SYNOPSIS',
    '.B queuectl',
    '.I command',
    '[\\fIflags\\fR] [\\fIarguments\\fR]',
    '.SH DESCRIPTION',
    escapeRoff(`${ABOUT} They are stored in an SQLite database.`),
    ...sections.flatMap(([heading, commands]) => [
      `.SH ${escapeRoff(heading.toUpperCase())}`,
      ...commands.flatMap((command) => [
        `.SS ${escapeRoff(signature(command))}`,
        `${escapeRoff(command.summary)}.`,
        ...commandParts(command).flatMap(roffLines),
      ]),
    ]),
    '.SH GLOBAL FLAGS',
    ...roffLines(flagRows(GLOBAL_FLAGS)),
    ...topics.flatMap(([name, page]) => [
      `.SH ${escapeRoff(name.replaceAll('-', ' ').toUpperCase())}`,
      ...page.flatMap(roffLines),
    ]),
    '.SH FILES',
    '.TP',
    escapeRoff('~/.queuectl/queue.db'),
    'The default database.',
    '.TP',
    escapeRoff('~/.queuectl/queue.db.d/'),
    'The state directory. It contains job output, access tokens and the logs of detached workers.',
  ].join('\n')}\n`;
}

function roffLines(block: Block): string[] {
  if (typeof block === 'string') return ['.PP', escapeRoff(block)];
  if (Array.isArray(block)) return block.flatMap(([term, about]) => ['.TP', bold(term), escapeRoff(about)]);
  if ('heading' in block) return ['.PP', `\\fB${escapeRoff(block.heading)}\\fR`];
  if ('usage' in block) return ['.PP', '.RS', escapeRoff(block.usage), '.RE'];
  return ['.PP', '.RS', '.nf', ...block.code.map(escapeRoff), '.fi', '.RE'];
}

/** Sets a term in bold. In a flag, only the names are bold, and not the value. */
function bold(term: string): string {
  const flag = /^( *)((?:-\w, )?)(--[\w-]+)(.*)$/.exec(term);
  if (flag === null) return `\\fB${escapeRoff(term)}\\fR`;
  const [, , short, long, value] = flag;
  return `${short === '' ? '' : `\\fB${escapeRoff(short!.slice(0, -2))}\\fR, `}\\fB${escapeRoff(long!)}\\fR${escapeRoff(value!)}`;
}

/** Escapes everything that roff would interpret, so that hyphens and quotes are printed as typed. */
function escapeRoff(plain: string): string {
  const escaped = plain
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll("'", '\\(aq')
    .replaceAll('`', '\\(ga')
    .replaceAll('^', '\\(ha')
    .replaceAll('~', '\\(ti')
    .replaceAll('…', '...');
  return /^[.']/.test(escaped) ? `\\&${escaped}` : escaped;
}
