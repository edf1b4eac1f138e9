import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** One operation on a file. `begun` and `done` are line numbers of the trace. */
export type Op =
  | { kind: 'write'; path: string; at: number; data: Uint8Array; done: number }
  | { kind: 'truncate'; path: string; size: number; done: number }
  | { kind: 'create'; path: string; directory: boolean; done: number }
  | { kind: 'unlink'; path: string; done: number }
  | { kind: 'rename'; path: string; to: string; done: number }
  | { kind: 'link'; path: string; to: string; done: number }
  /** Everything that was done to this file or directory before `begun` is on stable storage now. */
  | { kind: 'sync'; path: string; begun: number }
  /** A write to a file that is opened for appending, which reports something to a user. */
  | { kind: 'append'; path: string; text: string };

const TRACED_CALLS =
  `pwrite64,pwritev,pwritev2,write,writev,ftruncate,fallocate,fsync,fdatasync,sync_file_range,msync,unlink,
unlinkat,rename,renameat,renameat2,link,linkat,open,openat,creat,mkdir,mkdirat`.replaceAll('\n', '');

export function hasTool(name: string): boolean {
  return spawnSync(name, ['--version'], { stdio: 'ignore' }).error === undefined;
}

/** Runs a shell script and records what it and its children do to the wanted files. */
export function recordOps(
  script: string,
  trace: string,
  env: NodeJS.ProcessEnv,
  isWanted: (path: string) => boolean,
): Op[] {
  const { status, stderr } = spawnSync(
    'strace',
    // All text is printed as hex, which needs no unquoting and loses no byte.
    [
      '-f',
      '--seccomp-bpf',
      '-qq',
      '-y',
      '-xx',
      '-s',
      '2000000',
      '-e',
      `trace=${TRACED_CALLS}`,
      '-e',
      'signal=none',
    ].concat(['-o', trace, 'sh', '-ec', script]),
    { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] },
  );
  if (status !== 0) throw new Error(`the traced script exited with ${status}: ${stderr}`);
  return parse(readFileSync(trace, 'latin1'), isWanted);
}

/** One call, joined from its start and its end if other calls came in between. */
interface Call {
  name: string;
  args: string;
  result: string;
  begun: number;
  done: number;
}

function parse(text: string, isWanted: (path: string) => boolean): Op[] {
  const ops: { at: number; op: Op }[] = [];
  for (const call of calls(text)) {
    if (call.result.startsWith('-1')) continue;
    const op = toOp(call, isWanted);
    // A write may reach the disk as soon as it starts, and a sync counts only when it has returned.
    if (op !== null) ops.push({ at: op.kind === 'sync' ? call.done : call.begun, op });
  }
  return ops.sort((a, b) => a.at - b.at).map(({ op }) => op);
}

function* calls(text: string): Generator<Call> {
  const unfinished = new Map<string, { name: string; args: string; begun: number }>();
  for (const [number, line] of text.split('\n').entries()) {
    const [, pid, what] = line.match(/^(\d+) +(.*)$/s) ?? [];
    if (pid === undefined || what === undefined) continue;
    const begun = what.match(/^(\w+)\((.*) <unfinished \.\.\.>$/s);
    const resumed = what.match(/^<\.\.\. \w+ resumed>(.*)\) += (\S+)/s);
    const whole = what.match(/^(\w+)\((.*)\) += (\S+)/s);
    if (begun !== null) unfinished.set(pid, { name: begun[1]!, args: begun[2]!, begun: number });
    else if (resumed !== null) {
      const start = unfinished.get(pid);
      if (start === undefined) throw new Error(`no beginning of ${line.slice(0, 200)}`);
      yield { ...start, args: start.args + resumed[1]!, result: resumed[2]!, done: number };
    } else if (whole !== null)
      yield { name: whole[1]!, args: whole[2]!, result: whole[3]!, begun: number, done: number };
  }
}

/** These match a string, and a file descriptor with its path, as strace prints them. */
const HEX_STRING = /"((?:\\x[0-9a-f]{2})*)"(\.\.\.)?/g;
const DESCRIPTOR = /^\d+<((?:\\x[0-9a-f]{2})*)>/;

function toOp({ name, args, result, begun, done }: Call, isWanted: (path: string) => boolean): Op | null {
  const quoted = [...args.matchAll(HEX_STRING)].map(([, hex, cut]) => {
    if (cut !== undefined) throw new Error(`${name}: the trace does not hold all of what was written`);
    return bytes(hex!);
  });
  const file = DESCRIPTOR.exec(args)?.[1];
  // queuectl and SQLite both use absolute paths.
  const path = file === undefined ? quoted[0]?.toString() : bytes(file).toString();
  if (path === undefined || !isWanted(path)) return null;
  const numbers = args.replace(/^.*"/s, '').split(', ').slice(1).map(Number);
  switch (name) {
    case 'pwrite64':
      return { kind: 'write', path, at: numbers[1]!, data: quoted[0]!.subarray(0, Number(result)), done };
    case 'write':
      return { kind: 'append', path, text: quoted[0]!.subarray(0, Number(result)).toString() };
    case 'ftruncate':
      return { kind: 'truncate', path, size: Number(args.split(', ')[1]), done };
    case 'fsync':
    case 'fdatasync':
      return { kind: 'sync', path, begun };
    case 'mkdir':
      return { kind: 'create', path, directory: true, done };
    case 'openat':
    case 'open':
      return args.includes('O_CREAT') ? { kind: 'create', path, directory: false, done } : null;
    case 'unlink':
    case 'unlinkat':
      return { kind: 'unlink', path, done };
    case 'rename':
    case 'link':
      return { kind: name, path, to: quoted[1]!.toString(), done };
    default:
      throw new Error(`${name} on ${path}: this call cannot be replayed`);
  }
}

function bytes(hex: string): Buffer {
  return Buffer.from(hex.replaceAll('\\x', ''), 'hex');
}
