import { spawnSync } from 'node:child_process';
import { chownSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { configure, enqueue, lines, type Sandbox, sandbox, until, untilState } from '../support/queuectl.ts';
import type { Fault, Figures } from './fault.ts';
import { hasTool } from './syscalls.ts';

const NOBODY = 65534;
const SECRET = 'of somebody else\n'.repeat(60_000);

/** Maps names to shell commands that change the files of an attempt while its job runs. */
const FILE_TAMPERINGS: Record<string, string> = {
  'output deleted': 'rm "$OUT"',
  'output rotated': 'mv "$OUT" "$OUT.1"; : >"$OUT"',
  'output replaced by a link': 'ln -sf "$VICTIM" "$OUT"',
  'output replaced by a broken link': 'ln -sf "$VICTIM.none" "$OUT"',
  'shortened output replaced by a link': 'ln -s "$VICTIM" "$OUT.short"',
  'shortened output replaced by a directory': 'mkdir "$OUT.short"',
  'gap replaced by a link': 'ln -s "$VICTIM" "$GAP"',
  'gap replaced by a directory': 'mkdir "$GAP"',
  'output replaced by a pipe': 'rm "$OUT"; mkfifo "$OUT"',
  'output replaced by a directory': 'rm "$OUT"; mkdir "$OUT"',
  'output unreadable': 'chmod 000 "$OUT"',
  'all files deleted': 'rm "$OUT" "$RECORD"',
};

/** Lists the same for the directory, which all attempts share. So only one job runs at a time. */
const DIRECTORY_TAMPERINGS: Record<string, string> = {
  'directory read-only': 'chmod 500 .',
  'directory inaccessible': 'chmod 000 .',
  'directory deleted': 'rm -r "$PWD"',
  'directory emptied': 'rm -r "$PWD"/*',
};

/** Tampers with the files of a running attempt. The job continues, and no other file is read or changed. */
export const tamperedDirectory: Fault = {
  id: 'F44',
  title: 'The files of a running attempt, or their directory, are changed or removed',
  small: 1,
  full: 6,
  run: runAsAnotherUser,
};

async function runAsAnotherUser(rounds: number): Promise<Figures> {
  // Root may do everything, so the commands run as another user.
  const isRoot = process.getuid?.() === 0 && hasTool('setpriv');
  const user = isRoot ? ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'] : [];
  const box = sandbox(user);
  try {
    if (isRoot) chownSync(box.directory, NOBODY, NOBODY);
    return await tamperInRounds(box, user, rounds);
  } finally {
    spawnSync('chmod', ['-R', 'u+rwX', box.directory]);
    await box.cleanup();
  }
}

async function tamperInRounds(box: Sandbox, user: string[], rounds: number): Promise<Figures> {
  await configure(box, { 'output-limit': '64K' });
  const workers = await box.startWorkers(
    '--count',
    '1',
    '--concurrency',
    String(Object.keys(FILE_TAMPERINGS).length),
  );
  const violations: Figures['violations'] = [];
  let jobs = 0;
  for (let round = 0; round < rounds; round++) {
    const runOne = async ([name, tampering]: [string, string]): Promise<void> => {
      const wrong = await runTampered(box, user, `j${jobs++}`, tampering);
      violations.push(...wrong.map((what) => ({ kind: 'tampered', what: `${name}: ${what}` })));
    };
    await Promise.all(Object.entries(FILE_TAMPERINGS).map(runOne));
    for (const one of Object.entries(DIRECTORY_TAMPERINGS)) {
      await runOne(one);
      spawnSync('chmod', ['-f', '700', attemptsDirectory(box)]);
    }
  }
  if (/exited \(/.test(workers.output())) violations.push({ kind: 'worker ended', what: workers.output() });
  const names = Object.keys({ ...FILE_TAMPERINGS, ...DIRECTORY_TAMPERINGS });
  return { jobs, faults: jobs, violations, notes: names.join(', ') };
}

function attemptsDirectory(box: Sandbox): string {
  return join(box.home, 'queue.db.d', 'attempts');
}

async function runTampered(box: Sandbox, user: string[], id: string, tampering: string): Promise<string[]> {
  const at = (name: string): string => join(box.directory, `${id}.${name}`);
  writeFileSync(at('victim'), SECRET);
  if (user.length > 0) chownSync(at('victim'), NOBODY, NOBODY);
  // The command runs so long that its output is trimmed after the tampering.
  const command = `echo before; echo \${QUEUECTL_RUN%-*} >'${at('started')}'
    until test -e '${at('go')}'; do sleep 0.05; done
    head -c 1000000 /dev/zero | tr '\\0' x; sleep 1.5; echo after; echo ran >>'${at('witness')}'`;
  await enqueue(box, id, command);
  const [name] = await until(() => lines(at('started')).length > 0 && lines(at('started')), `${id} runs`);
  const env = {
    ...process.env,
    VICTIM: at('victim'),
    OUT: `${name}.out`,
    GAP: `${name}.gap`,
    RECORD: `${name}.rec`,
  };
  const [program, ...args] = [...user, 'sh', '-c', `cd '${attemptsDirectory(box)}' && ${tampering}`];
  if (spawnSync(program!, args, { env }).status !== 0) return ['could not be done'];
  writeFileSync(at('go'), '');

  const wrong: string[] = [];
  await untilState(box, id, 'completed').catch((error: Error) => wrong.push(error.message));
  if (lines(at('witness')).join() !== 'ran') wrong.push(`it ran ${lines(at('witness')).length} times`);
  if (readFileSync(at('victim'), 'utf8') !== SECRET) wrong.push('another file was changed');
  const { stdout, stderr } = await box.run(['logs', id]);
  if (stdout.includes('somebody else') || stderr.includes('somebody else'))
    wrong.push('another file was read');
  rmSync(at('victim'));
  return wrong;
}
