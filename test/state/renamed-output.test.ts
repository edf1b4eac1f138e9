import { expect, test } from 'bun:test';
import { spawn } from 'node:child_process';
import { renameSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pidsWithOpen } from '../../src/files/open-files.ts';
import { until } from '../support/queuectl.ts';
import { inTempDir } from '../support/temp-dir.ts';

const STRACE = Bun.which('strace');
const ROOT = resolve(import.meta.dir, '../..');

test.skipIf(STRACE === null)('a reader drops an output file that is renamed while it opens it', () =>
  inTempDir(async (directory) => {
    const path = `${directory}/1.out`;
    writeFileSync(path, '', { mode: 0o600 });
    const script = `import { openIfThere } from '${ROOT}/src/state/output.ts'; console.log(openIfThere('${path}'));`;
    // The reader is stopped when it has opened the file.
    const stop = ['-P', path, '-e', 'inject=openat,open:signal=STOP:when=1'];
    const args = ['-qq', '-o', '/dev/null', ...stop, process.execPath, '-e', script];
    const tracer = spawn(STRACE!, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    tracer.stdout.on('data', (data) => {
      output += data;
    });
    const closed = new Promise((done) => tracer.once('close', done));
    const reader = await until(() => pidsWithOpen(path)[0], 'the reader has the file');
    renameSync(path, `${directory}/spare`);
    process.kill(reader, 'SIGCONT');
    await closed;
    expect(output).toBe('null\n');
  }),
);
