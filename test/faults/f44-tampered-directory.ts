import { spawnSync } from 'node:child_process';
import { chownSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { configure, enqueue, lines, type Sandbox, sandbox, until, untilState } from '../support/queuectl.ts';
import type { Fault, Figures } from './fault.ts';
import { hasTool } from './syscalls.ts';

const NOBODY = 65534;
const SECRET = 'of somebody else\n'.repeat(60_000);

/** Maps names to shell commands that run in the attempt's directory while the job runs. */
const TAMPERINGS: Record<string, string> = {
  'output deleted': 'rm out',
  'output rotated': 'mv out out.1; : >out',
  'output replaced by a link': 'ln -sf "$VICTIM" out',
  'output replaced by a broken link': 'ln -sf "$VICTIM.none" out',
  'shortened output replaced by a link': 'ln -s "$VICTIM" out.short',
  'output replaced by a pipe': 'rm out; mkfifo out',
  'output replaced by a directory': 'rm out; mkdir out',
  'output unreadable': 'chmod 000 out',
  'directory read-only': 'chmod 500 .',
  'directory inaccessible': 'chmod 000 .',
  'directory deleted': 'rm -r "$PWD"',
};

/** Tampers with the directory of a running attempt. The job continues, and no other file is read or changed. */
export const tamperedDirectory: Fault = {
  id: 'F44',
  title: 'The directory of a running attempt is changed or removed',
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
    String(Object.keys(TAMPERINGS).length),
  );
  const violations: Figures['violations'] = [];
  let jobs = 0;
  for (let round = 0; round < rounds; round++) {
    const all = Object.entries(TAMPERINGS).map(([name, tampering], i) => {
      jobs++;
      return runTampered(box, user, `j${round}-${i}`, tampering).then((wrong) =>
        violations.push(...wrong.map((what) => ({ kind: 'tampered', what: `${name}: ${what}` }))),
      );
    });
    await Promise.all(all);
  }
  if (/exited \(/.test(workers.output())) violations.push({ kind: 'worker ended', what: workers.output() });
  return { jobs, faults: jobs, violations, notes: Object.keys(TAMPERINGS).join(', ') };
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
  const cwd = join(box.home, 'queue.db.d', 'attempts', name!);
  const env = { ...process.env, VICTIM: at('victim') };
  const [program, ...args] = [...user, 'sh', '-c', `cd '${cwd}' && ${tampering}`];
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
