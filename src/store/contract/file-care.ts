import type { Finding } from '../../core/rules/finding.ts';
import type { InvalidSetting } from '../../core/settings/stored-settings.ts';
import type { Leftover } from '../../files/write.ts';
import type { StateDirectory } from '../../state/state-directory.ts';
import type { Store } from '../store.ts';
import type { SettleLost } from './care.ts';

/**
 * Copies, replaces, checks and repairs the files of a store. `anyOwner` also allows files that belong to
 * another user, or that others can write.
 *
 * A store on a server has no files of its own. Then `stateDirectoryOf`, `copy`, `replace` and `repair` throw, and name the programs
 * to use instead.
 */
export interface FileCare {
  /** True for a store on a server. */
  readonly isOnServer: boolean;
  /** Returns the state directory of the store at this location. Neither of them needs to exist. */
  stateDirectoryOf(location: string): StateDirectory;
  /**
   * Copies the store, as of one moment, to a file. `renew` turns the copy into an independent store. The file gets its name when the
   * copy is complete, checked and on disk.
   */
  copy<T>(
    location: string,
    file: string,
    options: CopyOptions,
    renew: (copy: Store) => Promise<T>,
  ): Promise<CopyResult<T>>;
  /**
   * Replaces the store with a copy of `file`, in one step, and keeps the old store. Returns null if `begin` returns false.
   * Throws while a process uses the store.
   */
  replace<T>(
    location: string,
    file: string,
    anyOwner: boolean,
    steps: ReplaceSteps<T>,
  ): Promise<ReplaceResult<T> | null>;
  /**
   * Returns the SQL that an administrator can run to create or migrate the store. Null if the store is not on a server. Waits at most
   * `serverWaitMs` while the server cannot be reached. The default is 30s.
   */
  migrationSql(location: string, serverWaitMs?: number): Promise<string | null>;
  /** Reads the whole store and returns everything that is wrong with it. Waits for a server as `migrationSql` does. */
  check(location: string, serverWaitMs?: number): Promise<StoreCheck>;
  /**
   * Replaces a damaged store with the rows of it that can be read, and keeps the damaged file. Throws and changes nothing if
   * something is lost and no job can be saved, or if nothing is wrong with the store.
   */
  repair(location: string, anyOwner: boolean, steps: RepairSteps): Promise<RepairResult>;
  /**
   * Collects the findings of `doctor` about a store, whether or not it can be opened. With `whole`, it reads the whole file. Does not
   * wait for a server that cannot be reached, because that is a finding.
   */
  inspect(location: string, whole: boolean): Promise<Inspection>;
  /** Returns the files and directories that killed processes left beside the store. */
  leftovers(location: string): Leftover[];
  /** Removes what killed processes left beside the store. */
  clearLeftovers(location: string): void;
  /** Throws if this file is a store, or a part of one, and must not be overwritten. */
  refuseOverwriting(file: string, location: string): void;
}

export interface CopyOptions {
  /** Replaces an existing backup. */
  force: boolean;
  /** Also keeps long output, in FILE.d. */
  withOutput: boolean;
  anyOwner: boolean;
}

export interface CopyResult<T> {
  file: string;
  bytes: number;
  /** The value that `renew` returned. */
  renewResult: T;
  /** The epoch of the backup that was replaced. Null if there was none, or if its outputs must not be removed. */
  replacedEpoch: string | null;
}

export interface ReplaceSteps<T> {
  now(): number;
  /** Is called before anything is changed, with true if there is an old store. If it returns false, nothing is done. */
  begin(hasOld: boolean): Promise<boolean>;
  /** Turns the copy into an independent store. */
  renew(copy: Store): Promise<T>;
  /** Is called once no other process can use the store. Throws if the store must not be replaced. */
  onHeld(): void;
  /** Is called if the store was not replaced. */
  onFailed(): void;
}

export interface ReplaceResult<T> {
  file: string;
  db: string;
  renewResult: T;
  /** The path of the old store now, or null if there was none. */
  kept: string | null;
}

export interface StoreCheck {
  path: string;
  /** The problems, each in one line. */
  problems: string[];
  /** What to do about the problems. */
  fix: string;
  invalidSettings: InvalidSetting[];
}

export interface RepairSteps {
  now(): number;
  /** Returns the epoch in the names of the files of attempts, or null if it is unknown. */
  knownEpoch(): string | null;
  /** Returns how to settle a job whose attempt is gone, given the settings that were saved. */
  settleLost(settings: ReadonlyMap<string, string>): SettleLost;
  /** Throws if the repaired copy must not replace the store. */
  accept(copy: Store): Promise<void>;
}

export interface RepairReport {
  /** The number of saved rows by table. */
  saved: Record<string, number>;
  /** Describes what could not be saved, as exactly as it is known. */
  lost: string[];
  /** The number of saved jobs. */
  jobs: number;
  /** The problems that the new file still has. */
  problems: string[];
}

export interface RepairResult extends RepairReport {
  db: string;
  /** The path of the damaged file now. */
  kept: string;
}

export interface Inspection {
  path: string;
  /** The state directory of the store on this host. Null if it is not known. */
  stateDirectory: StateDirectory | null;
  /** Tells whether this is a store with the current schema that can be read. */
  isReadable: boolean;
  /** The program or library that stores the data. */
  engine: Finding;
  files: Finding[];
  /** The findings about the contents of the store. Empty if there is no store. */
  contents: Finding[];
}
