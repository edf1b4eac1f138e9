import { expect, test } from 'bun:test';
import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { namesIn } from '../../src/files/names-in.ts';
import { cookieFor } from '../../src/state/key.ts';
import { stateDirectory } from '../../src/state/state-directory.ts';
import { fileNames, placeNames } from '../support/place.ts';
import { enqueue, inSandbox, lines, type Sandbox, until, untilState } from '../support/queuectl.ts';

/** The shell lines that earlier versions of queuectl ran around a command. */
const EARLIER_FRAME = `trap : QUIT PIPE ALRM USR1 USR2 VTALRM PROF XCPU XFSZ
trap 'set -b' HUP INT TERM
exec 4>&2 2>/dev/null
umask 077
set -C
printf '%-10s %-5s %s\\n' $$ run "$4" >"$1" || exit 75
trap 'exit 76' EXIT
set +C
umask "$2"
[ "$3" = - ] || ulimit -S -n "$3"
(exec /bin/sh -c "$5" 2>&4 3>&- 4>&-)
set -- "$1" $?
case $- in *b*) set -- "$1" $2 s;; esac
printf '%-10s %-5s\\n' $$ $2$3 1<>"$1"
trap - EXIT USR1 USR2
case $2 in 75) kill -USR1 $$;; 76) kill -USR2 $$;; esac
exit $2`;

const stateOf = (box: Sandbox) => stateDirectory(box.stateDirectory());

/** Enqueues a job whose worker dies before it starts the command. Returns the name of its attempt. */
async function claimWithoutStart(box: Sandbox, id: string): Promise<string> {
  await enqueue(box, id, 'echo never', { max_retries: 0 });
  const worker = ['__worker', '--db', join(box.home, 'queue.db'), '--supervisor', 'none'];
  await box.start(worker, { keepStdinOpen: true, env: { QUEUECTL_CRASH_AT: 'before-place' } }).exit;
  const [seal] = namesIn(stateOf(box).attempts);
  return seal!.replace('-0.rec', '-1');
}

/** Starts a command as an earlier version did, with a directory for its attempt. Resolves when its frame has exited. */
async function startEarlier(box: Sandbox, name: string, command: string): Promise<void> {
  const state = stateOf(box);
  const directory = join(state.attempts, name);
  mkdirSync(directory, { mode: 0o700 });
  const output = openSync(join(directory, 'out'), 'ax', 0o600);
  const args = ['-c', EARLIER_FRAME, '/bin/sh', join(directory, 'rec'), '0022', '-', '-', command];
  const env = { ...process.env, QUEUECTL_HOME: box.home, QUEUECTL_RUN: cookieFor(state, name) };
  const options = { cwd: box.directory, env, detached: true };
  const child = spawn('/bin/sh', args, { ...options, stdio: ['ignore', output, output] });
  closeSync(output);
  await new Promise((resolve) => child.once('exit', resolve));
}

/** Moves the files of an attempt into a directory, as an earlier version would have left them. */
function makeEarlier(box: Sandbox, name: string): string {
  const { attempts } = stateOf(box);
  const directory = join(attempts, name);
  const files = namesIn(attempts).filter((file) => file.startsWith(`${name}.`));
  mkdirSync(directory, { mode: 0o700 });
  for (const file of files) renameSync(join(attempts, file), join(directory, file.slice(name.length + 1)));
  return directory;
}

const ENDED = { state: 'dead', exit_code: 7, attempts: 1, crashes: 0 };

test.concurrent(
  'a command that an earlier version left running is adopted, and its directory is removed',
  inSandbox(async (box) => {
    const name = await claimWithoutStart(box, 'job');
    const command = 'echo one; echo ran >>ran; until test -e go; do sleep 0.05; done; echo two; exit 7';
    const ended = startEarlier(box, name, command);
    await until(() => lines(join(box.directory, 'ran')).length > 0, 'the command runs');
    const workers = await box.startWorkers();
    await until(() => workers.output().includes('adopted'), 'the command is adopted');
    expect((await box.run(['logs', 'job'])).stdout).toBe('one\n');
    writeFileSync(join(box.directory, 'go'), '');
    await ended;
    expect(await untilState(box, 'job', 'dead')).toMatchObject(ENDED);
    expect((await box.run(['logs', 'job'])).stdout).toBe('one\ntwo\n');
    expect(lines(join(box.directory, 'ran'))).toEqual(['ran']);
    await until(() => placeNames(box).length === 0, 'the directory is removed');
  }),
);

test.concurrent(
  'a command of an earlier version that ended without a worker is settled with its exit code',
  inSandbox(async (box) => {
    await startEarlier(box, await claimWithoutStart(box, 'job'), 'echo text; exit 7');
    await box.startWorkers();
    expect(await untilState(box, 'job', 'dead')).toMatchObject(ENDED);
    expect((await box.run(['logs', 'job'])).stdout).toBe('text\n');
    await until(() => placeNames(box).length === 0, 'the directory is removed');
  }),
);

test.concurrent(
  'long output that an earlier version kept is printed, copied, moved and removed',
  inSandbox(async (box) => {
    const backup = join(box.directory, 'backup.db');
    await enqueue(box, 'loud', 'seq 1 20000');
    await box.run(['worker', 'start', '--drain', '--quiet']);
    const whole = (await box.run(['logs', 'loud'])).stdout;
    const directory = makeEarlier(box, placeNames(box)[0]!);
    expect((await box.run(['logs', 'loud'])).stdout).toBe(whole);
    // An earlier version recorded dropped bytes in the name of an empty file, and a killed one left several such files.
    for (const gap of ['gap-100-200', 'gap-150-300']) writeFileSync(join(directory, gap), '');
    const mark = '\n[queuectl: 200 bytes of output dropped here]\n';
    const trimmed = `${whole.slice(0, 100)}${mark}${whole.slice(300)}`;
    expect((await box.run(['logs', 'loud'])).stdout).toBe(trimmed);
    await box.json(['backup', '--with-output', backup]);
    expect((await box.run(['logs', 'loud', '--db', backup])).stdout).toBe(trimmed);
    expect(
      namesIn(join(`${backup}.d`, 'attempts'))
        .map((name) => name.split('.')[1])
        .sort(),
    ).toEqual(['gap', 'out']);
    const { kept } = await box.json<{ kept: string }>(['restore', '--yes', backup]);
    expect((await box.run(['logs', 'loud'])).stdout).toBe(trimmed);
    expect(existsSync(directory)).toBe(false);
    expect((await box.run(['logs', 'loud', '--db', kept])).stdout).toBe(trimmed);
    for (const db of [kept, join(box.home, 'queue.db')]) await box.json(['delete', 'loud', '--db', db]);
    expect(fileNames(box)).toEqual([]);
    expect(namesIn(join(`${kept}.d`, 'attempts'))).toEqual([]);
  }),
);
