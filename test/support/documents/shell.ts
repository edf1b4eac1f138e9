import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Writable } from 'node:stream';
import { processesWith, sendSignal } from '../processes.ts';
import { EXECUTABLE, until } from '../queuectl.ts';
import { matches, withoutHiddenNotes } from './compare.ts';
import type { Step } from './page.ts';

const ROWS = 50;
const COLUMNS = 120;
const RUN_LIMIT_MS = 60_000;
const BACKGROUND_LIMIT_MS = 10_000;
/** The pages show these values instead of the real ones, which differ from machine to machine. */
const SHOWN_HOME = '/home/ana';
const SHOWN_HOST = 'vm';
const SHOWN_PORT = '7780';

/** Reads commands from descriptor 3, and prints the exit code of each between two record separators. */
const COMMAND_LOOP = `
code=0
while IFS= read -r -d '' command <&3; do
  (exit $code)
  eval "$command" 3<&- </dev/null
  code=$?
  printf '\\036%d\\036' $code
done`;
/** Records the exit code of a failing command, so that a block fails if any of its commands fails. */
const ON_FAILURE = ['failed=0', "trap 'failed=$?' ERR"];

export interface Shell {
  run(step: Step): Promise<{ code: number; output: string[] }>;
  close(): Promise<void>;
}

/** Starts bash on a terminal, in a new home directory, with the built executable on its PATH. */
export async function startShell(): Promise<Shell> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'queuectl-doc-')));
  const home = join(root, 'ana');
  mkdirSync(home, { mode: 0o700 });
  const port = await freePort();
  const env = {
    ...{ PATH: `${dirname(EXECUTABLE)}:${process.env.PATH}`, HOME: home, USER: 'ana', LOGNAME: 'ana' },
    ...{ SHELL: '/bin/bash', LANG: 'C.UTF-8', TERM: 'xterm', TZ: 'UTC', NO_COLOR: '1', PAGER: 'cat' },
  };
  const terminal = join(import.meta.dir, '../terminal.py');
  const args = [terminal, String(ROWS), String(COLUMNS), 'bash', '--norc', '--noprofile', '-c', COMMAND_LOOP];
  const child = spawn('python3', args, { cwd: home, env, stdio: ['pipe', 'pipe', 'inherit', 'pipe'] });
  const commands = child.stdio[3] as Writable;
  let text = '';
  child.stdout!.setEncoding('utf8').on('data', (data) => {
    text += data;
  });
  const closed = new Promise((done) => child.once('close', done));

  const tidy = (output: string): string[] =>
    output
      .replaceAll('\r', '')
      .replaceAll(home, SHOWN_HOME)
      .replaceAll(String(port), SHOWN_PORT)
      .replaceAll(new RegExp(`\\b${hostname()}\\b`, 'g'), SHOWN_HOST)
      .replaceAll(/token=[\w-]+/g, 'token=…')
      .trimEnd()
      .split('\n')
      .map((line) => line.trimEnd())
      // queuectl warns when the tests run as root.
      .filter((line, _, all) => (line !== '' || all.length > 1) && !/^warning: .*\broot\b/.test(line));

  return {
    async run({ line, command, shown }) {
      const script = shown === null ? [...ON_FAILURE, command, 'trap - ERR', '(exit $failed)'] : [command];
      text = '';
      commands.write(`${script.join('\n').replaceAll(SHOWN_PORT, String(port))}\0`);
      const what = `line ${line}: ${command} has ended`;
      const [, before, code] = await until(() => /^([\s\S]*?)\x1e(\d+)\x1e/.exec(text), what, RUN_LIMIT_MS);
      let output = tidy(before!);
      // A background command may print after the shell has printed its exit code.
      if (inBackground(command) && shown !== null && shown.length > 0) {
        const printed = () => tidy(text.replaceAll(/\x1e\d+\x1e/g, ''));
        const complete = () => matches(shown, withoutHiddenNotes(shown, printed()));
        await until(complete, 'the output', BACKGROUND_LIMIT_MS).catch(() => {});
        output = printed();
      }
      return { code: Number(code), output };
    },
    async close() {
      commands.end();
      const remaining = (): number[] => processesWith(`HOME=${home}`);
      await until(() => {
        sendSignal(remaining(), 'SIGKILL');
        return remaining().length === 0;
      }, 'nothing of the page runs');
      await closed;
      rmSync(root, { recursive: true, force: true });
    },
  };
}

function inBackground(command: string): boolean {
  return /&\s*(#.*)?$/.test(command) && !/&&\s*$/.test(command);
}

function freePort(): Promise<number> {
  return new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => done(port));
    });
  });
}
