/** Tests files that another user puts into the state directory of a queue. */

import { expect, test as plainTest } from 'bun:test';
import {
  chmodSync,
  chownSync,
  lchownSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { stateDirectory } from '../../src/state/state-directory.ts';
import { stateProblems } from '../../src/state/state-problems.ts';
import { readAddress, serve } from '../support/http.ts';
import { enqueue, inSandbox, type Sandbox } from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';
import { onTestServer } from '../support/sandbox-store.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';
import { inTempDir } from '../support/temp-dir.ts';

const NOBODY = 65534;
const TOKEN = 'A'.repeat(43);
const IS_ROOT = process.getuid!() === 0;

const onPostgres = (body: (box: Sandbox) => Promise<void>) => inSandbox(body, undefined, onTestServer);

function giveAway(path: string): void {
  chownSync(path, NOBODY, NOBODY);
}

/** What another user may have done to a state directory, with the error. Only root can give files to others. */
const TAMPERINGS: [what: string, tamper: (state: string) => void, says: RegExp][] = [
  [
    'a token of another user',
    (state) => {
      writeFileSync(join(state, 'token'), TOKEN, { mode: 0o644 });
      giveAway(join(state, 'token'));
    },
    /token belongs to user 65534/,
  ],
  ['a key of another user', (state) => giveAway(join(state, 'key')), /key belongs to user 65534/],
  ['a host id of another user', (state) => giveAway(join(state, 'host')), /host belongs to user 65534/],
  [
    'attempts of another user',
    (state) => giveAway(join(state, 'attempts')),
    /attempts belongs to user 65534/,
  ],
  [
    'lifelines of another user behind a link',
    (state) => {
      const theirs = join(dirname(dirname(state)), 'theirs');
      mkdirSync(theirs);
      giveAway(theirs);
      rmSync(join(state, 'lifelines'), { recursive: true, force: true });
      symlinkSync(theirs, join(state, 'lifelines'));
    },
    /lifelines belongs to user 65534/,
  ],
  [
    'a lease of another user',
    (state) => {
      writeFileSync(join(state, 'lease'), '');
      giveAway(join(state, 'lease'));
    },
    /lease belongs to user 65534/,
  ],
  ['a home of another user', (state) => giveAway(dirname(state)), /home belongs to user 65534/],
  [
    'a group that can write logs',
    (state) => chmodSync(join(state, 'logs'), 0o770),
    /write to .*logs \(mode 0770/,
  ],
  [
    'a home that others can write',
    (state) => chmodSync(dirname(state), 0o777),
    /other users can write to .*home/,
  ],
  [
    'a directory of another user in its place',
    (state) => {
      renameSync(state, `${state}.away`);
      mkdirSync(state);
      giveAway(state);
    },
    /\.d belongs to user 65534/,
  ],
  [
    'a link of another user in its place',
    (state) => {
      renameSync(state, `${state}.away`);
      symlinkSync(`${state}.away`, state);
      lchownSync(state, NOBODY, NOBODY);
    },
    /\.d belongs to user 65534/,
  ],
  [
    'a directory that others can write',
    (state) => chmodSync(state, 0o777),
    /other users can write to .*\.d /,
  ],
  [
    'a link in place of the token',
    (state) => {
      writeFileSync(join(dirname(state), 'elsewhere'), TOKEN);
      symlinkSync('../elsewhere', join(state, 'token'));
    },
    /token is not a regular file/,
  ],
  [
    'a hard link in place of the token',
    (state) => {
      writeFileSync(join(dirname(state), 'elsewhere'), TOKEN, { mode: 0o600 });
      linkSync(join(dirname(state), 'elsewhere'), join(state, 'token'));
    },
    /token has another name/,
  ],
];

for (const [what, tamper, says] of TAMPERINGS) {
  plainTest.skipIf(!IS_ROOT && says.source.includes('belongs'))(
    `a state directory with ${what} is not safe`,
    () =>
      inTempDir((directory) => {
        const state = stateDirectory(join(directory, 'home', 'store.d'));
        for (const one of [state.attempts, state.lifelines, state.logs])
          mkdirSync(one, { recursive: true, mode: 0o700 });
        for (const one of [state.key, state.host]) writeFileSync(one, '', { mode: 0o600 });
        expect(stateProblems(state)).toEqual([]);
        tamper(state.path);
        expect(stateProblems(state).map((one) => one.problem)).toEqual([expect.stringMatching(says)]);
      }),
  );
}

const STORES = [
  ['SQLite', inSandbox],
  ['PostgreSQL', onPostgres],
] as const;
const links = TAMPERINGS.slice(-2);
const foreign = IS_ROOT
  ? TAMPERINGS.filter(([what]) => /^(a token|a key|lifelines|a home) of/.test(what))
  : [];

for (const [store, onStore] of STORES)
  for (const [what, tamper, says] of [...foreign, ...links])
    plainTest(
      `commands on ${store} refuse ${what}, unless QUEUECTL_ANY_OWNER is set`,
      onStore(async (box) => {
        await enqueue(box, 'job', 'true');
        const state = box.stateDirectory();
        writeFileSync(join(state, 'key'), 'k'.repeat(32), { mode: 0o600 });
        expect((await box.run(['doctor', '--json'])).stdout).toContain(
          '{"check":"permissions","status":"ok"',
        );
        tamper(state);
        expectRefusal(await box.run(['worker', 'start', '--drain']), 6, says);
        // Beside SQLite, a server checks only the tokens, which it reads.
        if (store !== 'SQLite' || !/key|lifelines/.test(what))
          expectRefusal(await box.run(['serve', '--port', '0']), 6, says);
        const doctor = await box.run(['doctor']);
        expect(doctor.stdout).toMatch(says);
        expect(doctor.code).toBe(1);
        const { code, stdout } = await box.run(['list', '-q'], { env: { QUEUECTL_ANY_OWNER: '1' } });
        expect({ code, stdout }).toEqual({ code: 0, stdout: 'job\n' });
      }),
    );

for (const [what, tamper] of links)
  test(`a running server does not accept ${what}, unless QUEUECTL_ANY_OWNER is set`, async (box) => {
    await box.create();
    const site = await serve(box);
    const state = box.stateDirectory();
    rmSync(join(state, 'token'));
    tamper(state);
    expect((await site.call('GET', '/api/v1/jobs', { token: TOKEN })).status).toBe(401);
    expect((await site.call('GET', '/api/v1/jobs')).status).toBe(200);
    const shared = await readAddress(
      box.start(['serve', '--port', '0'], { env: { QUEUECTL_ANY_OWNER: '1' } }),
    );
    expect(shared.token).toBe(TOKEN);
  });

plainTest(
  'a state directory in a directory like /tmp, and a file that has its draft as a second name, are safe',
  onPostgres(async (box) => {
    await enqueue(box, 'job', 'true');
    const { stateDirectory } = box;
    chmodSync(box.home, 0o1777);
    const site = await serve(box);
    const token = join(stateDirectory(), 'token');
    linkSync(token, `${token}.${process.pid}.0123456789ab`);
    expect((await site.call('GET', '/api/v1/jobs')).status).toBe(200);
    expect((await box.run(['list', '-q'])).stdout).toBe('job\n');
    expect(readFileSync(token, 'utf8').trim()).toBe(site.token);
  }),
);
