import { COMMAND_ALIASES, GROUP_ALIASES, IGNORED_FLAGS } from './aliases.ts';
import { aliasesOf, argumentFlags } from './canonical-flags.ts';
import type { Command, Flag, LoadCommand } from './command.ts';
import { type CommandGroup, isGroup, SECTIONS } from './commands.ts';
import { GLOBAL_FLAGS } from './global-flags.ts';
import type { Block, Row } from './help-page.ts';
import { TOPICS } from './topics.ts';

export const SHORT_HELP: Block[] = [
  'queuectl runs shell commands in the background and retries them when they fail.',
  [
    ["queuectl enqueue 'echo hello'", 'Add a job'],
    ['queuectl worker start', 'Run jobs (add --detach to run in the background)'],
    ['queuectl status', 'Show job counts and active workers'],
  ],
  "Run 'queuectl help' to see all commands.",
];

export const ABOUT =
  'queuectl runs shell commands in the background. It retries failed jobs with exponential backoff and moves jobs that keep failing to a dead letter queue. Jobs survive crashes and restarts.';

export async function fullHelp(): Promise<Block[]> {
  const sections = await Promise.all(
    Object.entries(SECTIONS).map(async ([heading, entries]): Promise<Block[]> => {
      const loads = Object.values(entries).flatMap((entry) =>
        isGroup(entry) ? Object.values(entry.commands) : [entry],
      );
      return [{ heading }, await summaryRows(loads)];
    }),
  );
  return [
    ABOUT,
    { heading: 'Usage' },
    { usage: 'queuectl COMMAND [flags]' },
    ...sections.flat(),
    { heading: 'Global flags' },
    flagRows(GLOBAL_FLAGS),
    { heading: 'Topics' },
    Object.entries(TOPICS).map(([name, topic]): Row => [name, topic.summary]),
    { heading: 'More help' },
    { usage: 'queuectl help COMMAND|TOPIC' },
  ];
}

export async function groupHelp(name: string, group: CommandGroup): Promise<Block[]> {
  return [
    group.summary,
    { heading: 'Usage' },
    { usage: `queuectl ${name} COMMAND [flags]` },
    { heading: 'Commands' },
    await summaryRows(Object.values(group.commands), signature),
    ...aliasBlocks(GROUP_ALIASES[name] === undefined ? [] : [[name, GROUP_ALIASES[name].join(', ')]]),
    { heading: 'More help' },
    { usage: `queuectl help ${name} COMMAND` },
  ];
}

export function commandHelp(command: Command): Block[] {
  return [command.summary, ...commandParts(command), { heading: 'Global flags' }, globalFlagsLine()];
}

/** Returns everything about a command except its summary and the global flags. */
export function commandParts(command: Command): Block[] {
  return [
    { heading: 'Usage' },
    { usage: usage(command) },
    { heading: 'Examples' },
    { code: command.examples },
    ...flagGroups(command.flags).flatMap(([heading, flags]): Block[] => [
      { heading },
      flagRows(flags, hasShorts(command.flags)),
    ]),
    ...(command.notes === undefined ? [] : [{ heading: 'Details' }, ...command.notes]),
    ...aliasBlocks(aliasRows(command)),
  ];
}

function aliasBlocks(rows: Row[]): Block[] {
  return rows.length === 0 ? [] : [{ heading: 'Aliases' }, rows];
}

/** Returns the aliases of a command, its flags and its arguments, and the flags without effect. */
function aliasRows(command: Command): Row[] {
  const { name, flags, args } = command;
  const targets = Object.entries(COMMAND_ALIASES).filter(
    ([target]) => target === name || target.startsWith(`${name} --`),
  );
  const dashed = (names: readonly string[]): string =>
    names.map((one) => (one.length === 1 ? `-${one}` : `--${one}`)).join(', ');
  const flagAliases = Object.keys(flags).flatMap((flag): Row[] => {
    const names = flags[flag]!.hidden ? [] : aliasesOf(flag, flags);
    return names.length === 0 ? [] : [[`--${flag}`, dashed(names)]];
  });
  const argumentNames = argumentFlags(command);
  const ignored = IGNORED_FLAGS[name] ?? [];
  return [
    ...targets.map(([target, words]): Row => [target, words.join(', ')]),
    ...flagAliases,
    ...(argumentNames.length === 0 ? [] : [[args, dashed(argumentNames)] satisfies Row]),
    ...(ignored.length === 0 ? [] : [['(no effect)', dashed(ignored)] satisfies Row]),
  ];
}

export function signature({ name, args }: Command): string {
  return args === '' ? name : `${name} ${args}`;
}

/** Returns the syntax of the command line. Flags come first, because everything after `--` belongs to the job. */
function usage({ name, args, flags }: Command): string {
  return ['queuectl', name, ...(Object.keys(flags).length > 0 ? ['[flags]'] : []), args]
    .filter((word) => word !== '')
    .join(' ');
}

/** Groups the flags by the heading that each one names, in the order in which the headings appear. */
function flagGroups(flags: Record<string, Flag>): [heading: string, flags: Record<string, Flag>][] {
  const groups = new Map<string, Record<string, Flag>>();
  for (const [name, flag] of Object.entries(flags)) {
    if (flag.hidden) continue;
    const heading = flag.group ?? 'Flags';
    groups.set(heading, { ...groups.get(heading), [name]: flag });
  }
  return [...groups];
}

function globalFlagsLine(): string {
  const names = Object.entries(GLOBAL_FLAGS).map(([name, flag]) => `--${name}${valueText(flag)}`);
  return `${names.join(', ')} (see 'queuectl help')`;
}

async function summaryRows(loads: LoadCommand[], term = (one: Command): string => one.name): Promise<Row[]> {
  const commands = await Promise.all(loads.map(async (load) => (await load()).default));
  return commands.map((command) => [term(command), command.summary]);
}

/** Returns a row for each flag. With `indentsLong`, flags without a letter are aligned with those that have one. */
export function flagRows(flags: Record<string, Flag>, indentsLong = hasShorts(flags)): Row[] {
  return Object.entries(flags).map(([name, flag]) => {
    const short = flag.short === undefined ? (indentsLong ? '    ' : '') : `-${flag.short}, `;
    return [`${short}--${name}${valueText(flag)}`, flag.help];
  });
}

function hasShorts(flags: Record<string, Flag>): boolean {
  return Object.values(flags).some((flag) => flag.short !== undefined);
}

function valueText(flag: Flag): string {
  if (flag.value === undefined) return '';
  return flag.bareValue === undefined ? ` ${flag.value}` : `[=${flag.value}]`;
}
