/** Tests the files in contrib/ that run queuectl as a service: the systemd units and the image. */
import { describe, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inTempDir } from '../support/temp-dir.ts';

const linesOf = (file: string): string[] => readFileSync(file, 'utf8').split('\n');

const RESTRICTED = ['User=queuectl', 'NoNewPrivileges=yes', 'ProtectSystem=strict', 'CapabilityBoundingSet='];

describe.each([
  [
    'queuectl.service',
    ['ExecStart=/usr/local/bin/queuectl worker start --count 4', 'KillMode=process', 'OOMPolicy=continue'],
  ],
  ['queuectl-serve.service', ['ExecStart=/usr/local/bin/queuectl serve', 'PrivateTmp=yes']],
])('%s', (name, expected) => {
  const lines = linesOf(join('contrib', name));

  test('runs as a separate user with restricted privileges', () => {
    for (const line of [...RESTRICTED, ...expected, 'StateDirectory=queuectl']) expect(lines).toContain(line);
  });

  test.skipIf(Bun.which('systemd-analyze') === null)('systemd-analyze verifies it without warnings', () =>
    inTempDir(async (directory) => {
      const file = join(directory, name);
      writeFileSync(file, lines.join('\n').replace('/usr/local/bin/queuectl', '/bin/true'));
      const { exitCode, stderr } = Bun.spawnSync(['systemd-analyze', 'verify', '--man=no', file]);
      expect([exitCode, stderr.toString()]).toEqual([0, '']);
    }),
  );
});

test('the image runs as a user with a number that is not root, and is built from the executable alone', () => {
  const lines = linesOf('contrib/Dockerfile');
  const user = lines.findIndex((line) => /^USER [1-9]\d*:[1-9]\d*$/.test(line));
  expect(user).toBeGreaterThan(lines.findLastIndex((line) => /^(RUN|COPY)/.test(line)));
  // The volume has the owner of its directory at this point.
  expect(lines.indexOf('VOLUME /var/lib/queuectl')).toBeGreaterThan(
    lines.findIndex((line) => line.includes('install -d')),
  );
  const copied = lines.filter((line) => line.startsWith('COPY ')).map((line) => line.split(' ').at(-2)!);
  expect(linesOf('.dockerignore').filter((line) => !/^(#|$)/.test(line))).toEqual([
    '*',
    ...copied.map((path) => `!${path}`),
  ]);
});
