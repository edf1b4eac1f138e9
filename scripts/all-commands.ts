import { type Command, loadCommand } from '../src/cli/frame/command.ts';
import { isGroup, SECTIONS } from '../src/cli/frame/commands.ts';

/** Loads every command that the help lists, section by section. */
export async function allCommands(): Promise<[heading: string, commands: Command[]][]> {
  return Promise.all(
    Object.entries(SECTIONS).map(async ([heading, entries]): Promise<[string, Command[]]> => {
      const loads = Object.values(entries).flatMap((entry) =>
        isGroup(entry) ? Object.values(entry.commands) : [entry],
      );
      return [heading, await Promise.all(loads.map(loadCommand))];
    }),
  );
}
