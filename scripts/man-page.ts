import { GLOBAL_FLAGS } from '../src/cli/command.ts';
import { ABOUT, commandParts, flagRows, signature } from '../src/cli/help.ts';
import type { Block } from '../src/cli/help-page.ts';
import { TOPICS } from '../src/cli/topics.ts';
import { VERSION } from '../src/core/version.ts';
import { allCommands } from './all-commands.ts';

/** Returns queuectl(1) in roff, made from the command table and the help topics. */
export async function manPage(): Promise<string> {
  const sections = await allCommands();
  return `${[
    `.TH QUEUECTL 1 "" "queuectl ${VERSION}" "User Commands"`,
    '.SH NAME',
    'queuectl \\- a job queue for shell commands',
    '.SH SYNOPSIS',
    '.B queuectl',
    '.I command',
    '[\\fIflags\\fR] [\\fIarguments\\fR]',
    '.SH DESCRIPTION',
    text(`${ABOUT} They are stored in an SQLite database.`),
    ...sections.flatMap(([heading, commands]) => [
      `.SH ${text(heading.toUpperCase())}`,
      ...commands.flatMap((command) => [
        `.SS ${text(signature(command))}`,
        `${text(command.summary)}.`,
        ...commandParts(command).flatMap(subsection),
      ]),
    ]),
    '.SH GLOBAL FLAGS',
    ...subsection({ rows: flagRows(GLOBAL_FLAGS) }),
    ...Object.entries(TOPICS).flatMap(([name, topic]) => [
      `.SH ${text(name.replaceAll('-', ' ').toUpperCase())}`,
      ...topic.page().flatMap(subsection),
    ]),
    '.SH FILES',
    '.TP',
    text('~/.queuectl/queue.db'),
    'The default database.',
    '.TP',
    text('~/.queuectl/queue.db.d/'),
    'The state directory. It contains job output, access tokens and the logs of detached workers.',
  ].join('\n')}\n`;
}

function subsection(block: Block): string[] {
  if ('heading' in block) return ['.PP', `\\fB${text(block.heading)}\\fR`];
  if ('text' in block) return ['.PP', text(block.text)];
  if ('usage' in block) return ['.PP', '.RS', text(block.usage), '.RE'];
  if ('code' in block) return ['.PP', '.RS', '.nf', ...block.code.map(text), '.fi', '.RE'];
  return block.rows.flatMap(([term, about]) => ['.TP', bold(term), text(about)]);
}

/** Sets the names of flags in bold, and their values as they are. */
function bold(term: string): string {
  const flag = /^( *)((?:-\w, )?)(--[\w-]+)(.*)$/.exec(term);
  if (flag === null) return `\\fB${text(term)}\\fR`;
  const [, , short, long, value] = flag;
  return `${short === '' ? '' : `\\fB${text(short!.slice(0, -2))}\\fR, `}\\fB${text(long!)}\\fR${text(value!)}`;
}

/** Escapes everything that roff would interpret. Hyphens and quotes stay as typed. */
function text(plain: string): string {
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
