import { type Command, type Flag, GLOBAL_FLAGS } from './command.ts';
import { COMMANDS, type Group, isGroup } from './commands.ts';

export const SHORT_HELP = `queuectl runs shell commands in the background, reliably.

  queuectl enqueue 'echo hello'     add a job
  queuectl worker start             run jobs (in this terminal; --detach for the background)
  queuectl status                   see how it goes

All commands: queuectl help
`;

export async function fullHelp(): Promise<string> {
  const loads = Object.values(COMMANDS).flatMap((entry) =>
    isGroup(entry) ? Object.values(entry.commands) : [entry],
  );
  return `queuectl runs shell commands in the background: retries with exponential backoff, a dead letter queue,
and nothing lost when anything crashes.

Commands:
${await summaries(loads)}

Flags of every command:
${flagLines(GLOBAL_FLAGS)}

Where the jobs are: --db, else QUEUECTL_DB, else $QUEUECTL_HOME/queue.db, else ~/.queuectl/queue.db
Exit codes: 0 ok, 1 failed, 2 usage, 3 not found, 4 conflict or wrong state, 5 store busy or unavailable,
            6 not permitted, 7 partly done. run, wait and enqueue --wait: the job's own; 128+n for a signal,
            130 cancelled, 124 the wait timed out, 125 queuectl itself failed
More: queuectl help COMMAND
`;
}

export async function groupHelp(name: string, group: Group): Promise<string> {
  return `${group.summary}

${await summaries(Object.values(group.commands))}

More: queuectl help ${name} COMMAND
`;
}

export function commandHelp(command: Command): string {
  const parts = [
    `${command.summary}\n`,
    `Examples:\n${command.examples.map((example) => `  ${example}`).join('\n')}\n`,
  ];
  parts.push(`Usage: queuectl ${signature(command)} [flags]\n`);
  if (Object.keys(command.flags).length > 0) parts.push(`Flags:\n${flagLines(command.flags)}\n`);
  parts.push(`Flags of every command:\n${flagLines(GLOBAL_FLAGS)}\n`);
  if (command.notes) parts.push(`${command.notes.join('\n')}\n`);
  return parts.join('\n');
}

async function summaries(loads: (() => Promise<{ default: Command }>)[]): Promise<string> {
  const commands = await Promise.all(loads.map(async (load) => (await load()).default));
  return columns(commands.map((command) => [signature(command), command.summary]));
}

function signature(command: Command): string {
  return command.args === '' ? command.name : `${command.name} ${command.args}`;
}

function flagLines(flags: Record<string, Flag>): string {
  return columns(
    Object.entries(flags)
      .filter(([, flag]) => !flag.hidden)
      .map(([name, flag]) => {
        const short = flag.short === undefined ? '    ' : `-${flag.short}, `;
        return [`${short}--${name}${valueText(flag)}`, flag.help];
      }),
  );
}

function valueText(flag: Flag): string {
  if (flag.value === undefined) return '';
  return flag.bare === undefined ? ` ${flag.value}` : `[=${flag.value}]`;
}

function columns(lines: [string, string][]): string {
  const width = Math.min(44, Math.max(...lines.map(([left]) => left.length)));
  return lines.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join('\n');
}
