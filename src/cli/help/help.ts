import { entryOf } from '../../core/text/language.ts';
import { nearest } from '../../core/text/nearest.ts';
import { shellWord } from '../../core/text/shell-quote.ts';
import { COMMAND_ALIASES, GROUP_ALIASES, IGNORED_FLAGS } from '../frame/aliases.ts';
import type { Command, Flag, LoadCommand } from '../frame/command.ts';
import { type CommandGroup, isGroup, SECTIONS } from '../frame/commands.ts';
import { aliasesOf, argumentFlags, GLOBAL_FLAGS } from '../frame/parse-flags.ts';
import type { Block, HelpRow } from './help-page.ts';

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
    Object.entries(TOPICS).map(([name, topic]): HelpRow => [name, topic.summary]),
    { heading: 'More help' },
    { usage: 'queuectl help COMMAND|TOPIC' },
  ];
}

export async function groupHelp(name: string, group: CommandGroup): Promise<Block[]> {
  return [
    group.summary,
    { heading: 'Usage' },
    { usage: `queuectl ${shellWord(name)} COMMAND [flags]` },
    { heading: 'Commands' },
    await summaryRows(Object.values(group.commands), signature),
    ...aliasBlocks(GROUP_ALIASES[name] === undefined ? [] : [[name, GROUP_ALIASES[name].join(', ')]]),
    { heading: 'More help' },
    { usage: `queuectl help ${shellWord(name)} COMMAND` },
  ];
}

export function commandHelp(command: Command): Block[] {
  const names = Object.entries(GLOBAL_FLAGS).map(([name, flag]) => `--${name}${valueText(flag)}`);
  const globalFlags = `${names.join(', ')} (see 'queuectl help')`;
  return [command.summary, ...commandParts(command), { heading: 'Global flags' }, globalFlags];
}

/** Returns everything about a command except its summary and the global flags. */
export function commandParts(command: Command): Block[] {
  const { name, args, flags, examples, notes } = command;
  // Flags come first, because everything after `--` belongs to the job.
  const usage = ['queuectl', name, Object.keys(flags).length > 0 ? '[flags]' : '', args].filter(Boolean);
  const shown = Object.entries(flags).filter(([, flag]) => !flag.hidden);
  const groups = [...Map.groupBy(shown, ([, flag]) => flag.group ?? 'Flags')];
  return [
    { heading: 'Usage' },
    { usage: usage.join(' ') },
    { heading: 'Examples' },
    { code: examples },
    ...groups.flatMap(([heading, group]): Block[] => [
      { heading },
      flagRows(Object.fromEntries(group), hasShorts(flags)),
    ]),
    ...(notes === undefined ? [] : [{ heading: 'Details' }, ...notes]),
    ...aliasBlocks(aliasRows(command)),
  ];
}

function aliasBlocks(rows: HelpRow[]): Block[] {
  return rows.length === 0 ? [] : [{ heading: 'Aliases' }, rows];
}

/** Returns the aliases of a command, its flags and its arguments, and the flags without effect. */
function aliasRows(command: Command): HelpRow[] {
  const { name, flags, args } = command;
  const targets = Object.entries(COMMAND_ALIASES).filter(
    ([target]) => target === name || target.startsWith(`${name} --`),
  );
  const row = (term: string, names: readonly string[]): HelpRow[] => {
    const dashed = names.map((one) => (one.length === 1 ? `-${one}` : `--${one}`));
    return names.length === 0 ? [] : [[term, dashed.join(', ')]];
  };
  return [
    ...targets.map(([target, words]): HelpRow => [target, words.join(', ')]),
    ...Object.keys(flags).flatMap((flag) =>
      row(`--${flag}`, flags[flag]!.hidden ? [] : aliasesOf(flag, flags)),
    ),
    ...row(args, argumentFlags(command)),
    ...row('(no effect)', IGNORED_FLAGS[name] ?? []),
  ];
}

export function signature({ name, args }: Command): string {
  return args === '' ? name : `${name} ${args}`;
}

async function summaryRows(
  loads: LoadCommand[],
  term = (one: Command): string => one.name,
): Promise<HelpRow[]> {
  const commands = await Promise.all(loads.map(async (load) => (await load()).default));
  return commands.map((command) => [term(command), command.summary]);
}

/** Returns a row for each flag. With `indentsLong`, flags without a letter are aligned with those that have one. */
export function flagRows(flags: Record<string, Flag>, indentsLong = hasShorts(flags)): HelpRow[] {
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

export interface Topic {
  summary: string;
  /** The sections of the manual (docs/) that explain the topic. */
  sections: string[];
}

/** The topics of `queuectl help TOPIC`. scripts/manual.ts puts their pages into the executable. */
export const TOPICS: Record<string, Topic> = {
  retries: {
    summary: 'Retries, backoff and the dead letter queue',
    sections: [
      'retries#what-counts-as-a-failure',
      'retries#number-of-attempts',
      'retries#delay-between-attempts',
      'retries#retry-by-exit-code',
      'retries#the-dead-letter-queue',
      'retries#at-most-once',
      'retries#crashes',
    ],
  },
  filters: {
    summary: 'Select jobs by state, queue, age, error and more',
    sections: ['jobs#filters', 'jobs#states'],
  },
  cron: {
    summary: 'Syntax of cron expressions, with examples',
    sections: ['schedules#cron-expressions', 'schedules#time-zones'],
  },
  hooks: { summary: 'Run a command when a job completes or fails', sections: ['dependencies#hooks'] },
  formatting: { summary: 'Tables, JSON, CSV, templates, times and colors', sections: ['scripts#formats'] },
  config: {
    summary: 'All settings with their allowed values and defaults',
    sections: ['configuration#settings'],
  },
  environment: {
    summary: 'Environment variables',
    sections: [
      'configuration#environment-variables',
      'jobs#variables-of-a-job',
      'dependencies#variables-of-a-hook',
    ],
  },
  'exit-codes': { summary: 'Exit codes of queuectl', sections: ['scripts#exit-codes'] },
};

const SYNONYMS: Record<string, string> = { setting: 'config', settings: 'config', configuration: 'config' };

/** Returns the name of the topic that a word is a synonym of or resembles, or null. */
export function similarTopic(word: string): string | null {
  return entryOf(SYNONYMS, word) ?? nearest(word, Object.keys(TOPICS));
}

export async function topicPage(name: string): Promise<Block[]> {
  const { MANUAL } = await import('../manual.generated.ts');
  return MANUAL[name]!;
}
