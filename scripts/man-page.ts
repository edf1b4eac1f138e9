import { type Command, type Flag, GLOBAL_FLAGS } from '../src/cli/command.ts';
import { COMMANDS, isGroup } from '../src/cli/commands.ts';
import { signature } from '../src/cli/help.ts';
import { TOPICS } from '../src/cli/topics.ts';
import { VERSION } from '../src/core/version.ts';

/** queuectl(1) in roff, from the table of commands and the help topics. */
export async function manPage(): Promise<string> {
  const commands = await allCommands();
  return `${[
    `.TH QUEUECTL 1 "" "queuectl ${VERSION}" "User Commands"`,
    '.SH NAME',
    'queuectl \\- a job queue for shell commands',
    '.SH SYNOPSIS',
    '.B queuectl',
    '.I command',
    '[\\fIarguments\\fR] [\\fIflags\\fR]',
    '.SH DESCRIPTION',
    text(
      'queuectl runs shell commands in the background: retries with exponential backoff, a dead letter queue,',
    ),
    text('and nothing lost when anything crashes. Its state is one SQLite file.'),
    '.SH COMMANDS',
    ...commands.flatMap(commandLines),
    '.SH FLAGS OF EVERY COMMAND',
    ...flagLines(GLOBAL_FLAGS),
    ...Object.entries(TOPICS).flatMap(([name, topic]) => [
      `.SH ${text(name.replaceAll('-', ' ').toUpperCase())}`,
      ...preformatted(topic()),
    ]),
    '.SH FILES',
    '.TP',
    text('~/.queuectl/queue.db'),
    'The jobs, unless another place is given.',
    '.TP',
    text('~/.queuectl/queue.db.d/'),
    'Output of running jobs, logs of detached workers.',
  ].join('\n')}\n`;
}

function allCommands(): Promise<Command[]> {
  const loads = Object.values(COMMANDS).flatMap((entry) =>
    isGroup(entry) ? Object.values(entry.commands) : [entry],
  );
  return Promise.all(loads.map(async (load) => (await load()).default));
}

function commandLines(command: Command): string[] {
  return [
    `.SS ${text(signature(command))}`,
    `${text(command.summary)}.`,
    ...flagLines(command.flags),
    ...(command.notes === undefined ? [] : ['.PP', ...command.notes.map(text)]),
    ...preformatted(command.examples.join('\n')),
  ];
}

function flagLines(flags: Record<string, Flag>): string[] {
  const shown = Object.entries(flags).filter(([, flag]) => !flag.hidden);
  return shown.flatMap(([name, flag]) => {
    const short = flag.short === undefined ? '' : `\\fB${text(`-${flag.short}`)}\\fR, `;
    const given = flag.value === undefined ? '' : `\\fI${text(flag.value)}\\fR`;
    const value = given === '' ? '' : flag.bare === undefined ? ` ${given}` : `[=${given}]`;
    return ['.TP', `${short}\\fB${text(`--${name}`)}\\fR${value}`, text(flag.help)];
  });
}

function preformatted(lines: string): string[] {
  return ['.PP', '.nf', ...lines.split('\n').map(text), '.fi'];
}

/** Nothing of it is roff: no escapes, no requests at the start of a line, hyphens and quotes as typed. */
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
