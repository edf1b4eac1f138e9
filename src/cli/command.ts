import type { App } from '../actions/app.ts';
import type { Io } from './io.ts';

export interface Flag {
  /** What stands for the value in the help; a flag without one is a switch. */
  value?: string;
  short?: string;
  /** The value where the flag is given without one; another one then needs a `=`. */
  bare?: string;
  /** For queuectl's own use: not in the help. */
  hidden?: boolean;
  help: string;
  /** May be given several times. */
  many?: boolean;
}

/** What a command works with. The store opens on first use, so that help and version touch no file. */
export interface Context {
  io: Io;
  cwd: string;
  environment: NodeJS.ProcessEnv;
  location: string;
  /** `actor`: who acts, where it is not the person. */
  app(how?: { create: boolean; actor?: string }): Promise<App>;
}

export interface Input {
  args: string[];
  /** What stood behind `--`; null when there was none. */
  rest: string[] | null;
  has(flag: string): boolean;
  one(flag: string): string | undefined;
  all(flag: string): string[];
}

export interface Printed {
  /** By its name among the schemas of the HTTP API. */
  object?: string;
  /** What else there is. */
  fields?: string[];
}

export interface Command {
  name: string;
  summary: string;
  /** How the arguments are written in the help. */
  args: string;
  flags: Record<string, Flag>;
  examples: string[];
  /** Lines below the flags. */
  notes?: string[];
  /** At most so many arguments. */
  most: number;
  /** What stands behind `--` is for this command. */
  rest?: boolean;
  /** What it prints with --json: fields of it can be chosen. */
  prints?: Printed;
  /** With these arguments it exits with the code of a job: then no error of its own may look like one. */
  answersForJob?(args: string[]): boolean;
  /** Answers the exit code, 0 when there is none. */
  run(context: Context, input: Input): Promise<number | undefined>;
}

export const GLOBAL_FLAGS: Record<string, Flag> = {
  db: { value: 'PATH', help: 'the database file (QUEUECTL_DB)' },
  json: {
    value: 'FIELD,…',
    bare: '',
    many: true,
    help: 'print JSON; only these fields of it (help: which there are)',
  },
  quiet: { short: 'q', help: 'no notes and warnings; ids only where there is a list or jobs are added' },
  color: { value: 'WHEN', help: 'auto, always or never' },
  help: { short: 'h', help: 'show help' },
  version: { short: 'V', help: 'show the version' },
};
