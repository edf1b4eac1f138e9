import { lstatSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { orNull } from '../core/text/language.ts';
import { ownershipProblems, parentProblems, type SafetyProblem } from '../files/own-files.ts';
import { namesIn } from '../files/read.ts';
import { draftPaths } from '../files/write.ts';
import type { StateDirectory } from './state-directory.ts';

const OWN_HOME = 'set QUEUECTL_HOME to a directory that only you can change';
const REMOVE_IT = 'find out who made it, and remove it';

/**
 * Returns everything through which another user could change the files of a state directory, or replace it. Nothing in it may be read
 * before this was checked: a token or key of another user would give that user the rights of this one.
 */
export const stateProblems = (state: StateDirectory): SafetyProblem[] => [
  // If the directory cannot be read, opening it fails.
  ...(orNull(() => [
    ...parentProblems(dirname(state.path)),
    ...ownershipProblems([state.path, state.attempts], [], OWN_HOME),
    ...contentProblems(state),
  ]) ?? []),
];

/**
 * Does the same for what shows who may do what, and which jobs may run: the tokens, the key, the id and the lease of this host, its
 * lifelines and the logs.
 */
export const contentProblems = (state: StateDirectory): SafetyProblem[] => [
  ...ownershipProblems([state.lifelines, state.logs], [], REMOVE_IT),
  ...[state.key, state.host, state.lease, ...Object.values(state.tokens)].flatMap(secretProblem),
];

/** Does the same for one of these files, which must have only one name. */
export function secretProblem(path: string): SafetyProblem[] {
  // A directory cannot be read, so the error of the command that tries is clearer.
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) return [];
  const found = ownershipProblems([], [path], REMOVE_IT);
  return found.length === 0 && hasOtherName(path)
    ? [{ problem: `${path} has another name (a hard link)`, fix: REMOVE_IT }]
    : found;
}

/** Tells whether a file has a name in another directory. The draft from which it was made is a name in this one, or in its own. */
function hasOtherName(path: string): boolean {
  const { nlink, ino } = lstatSync(path, { throwIfNoEntry: false }) ?? { nlink: 1, ino: 0 };
  if (nlink === 1) return false;
  const known = namesIn(dirname(path)).flatMap((name) => {
    const one = join(dirname(path), name);
    return [one, ...draftPaths(one)];
  });
  const names = known.filter((one) => lstatSync(one, { throwIfNoEntry: false })?.ino === ino);
  // The draft may have been removed meanwhile.
  return (lstatSync(path, { throwIfNoEntry: false })?.nlink ?? 0) > new Set(names).size;
}
