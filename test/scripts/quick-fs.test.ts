import { expect, test } from 'bun:test';
import fs from 'node:fs';
import { join } from 'node:path';
import { inTempDir } from '../support/temp-dir.ts';

const isSupported = process.platform === 'linux' && process.arch === 'x64';
type Fs = typeof fs;

let instances = 0;
/** Returns a new instance of the module. It calls the C library until a call has loaded node:fs. */
async function newQuickFs(): Promise<Fs> {
  return (await import(`../../scripts/quick-fs.ts?${instances++}`)) as unknown as Fs;
}

/** The fields and methods that the module provides. */
const FIELDS = ['mode', 'nlink', 'uid', 'gid', 'ino', 'size', 'rdev', 'dev'] as const;
const TIMES = ['mtimeMs', 'atimeMs', 'ctimeMs'] as const;
const METHODS = ['isFile', 'isDirectory', 'isSymbolicLink', 'isCharacterDevice', 'isFIFO'] as const;

function described(stats: fs.Stats | undefined): unknown {
  if (stats === undefined) return undefined;
  const times = TIMES.map((name) => Math.round(stats[name]));
  return [...FIELDS.map((name) => stats[name]), ...times, ...METHODS.map((name) => stats[name]())];
}

/** Returns the result of a call, or the code of its error. */
function outcome(work: () => unknown): unknown {
  try {
    // Bun returns null instead of undefined in some places.
    return { value: work() ?? null };
  } catch (error) {
    return { code: (error as NodeJS.ErrnoException).code };
  }
}

const OPTIONS = { throwIfNoEntry: false };
/** The calls that may end without node:fs. None of them changes a file. */
const CALLS: Record<string, (module: Fs, path: string) => unknown> = {
  statSync: (module, path) => described(module.statSync(path, OPTIONS)),
  'statSync that throws': (module, path) => described(module.statSync(path)),
  'statSync with big integers': (module, path) =>
    String(module.statSync(path, { ...OPTIONS, bigint: true })?.mtimeNs),
  lstatSync: (module, path) => described(module.lstatSync(path, OPTIONS)),
  existsSync: (module, path) => module.existsSync(path),
  'accessSync to read': (module, path) => module.accessSync(path, module.constants.R_OK),
  'accessSync to execute': (module, path) => module.accessSync(path, module.constants.X_OK),
  realpathSync: (module, path) => module.realpathSync(path),
  'readFileSync as Latin-1': (module, path) => module.readFileSync(path, 'latin1'),
  'readFileSync as UTF-8': (module, path) => module.readFileSync(path, 'utf8'),
  statfsSync: (module, path) => {
    const { type, bsize, blocks, files } = module.statfsSync(path);
    return { type, bsize, blocks, files };
  },
  'fstatSync and closeSync': (module, path) => {
    const descriptor = module.openSync(path, module.constants.O_RDONLY | module.constants.O_NONBLOCK);
    const stats = described(module.fstatSync(descriptor));
    module.closeSync(descriptor);
    return [stats, outcome(() => module.fstatSync(descriptor)), outcome(() => module.closeSync(descriptor))];
  },
};

/** Makes files of several kinds and returns their paths, together with some that cannot be used. */
function makeFiles(directory: string): string[] {
  const path = (name: string): string => join(directory, name);
  fs.writeFileSync(path('file'), 'text');
  fs.writeFileSync(path('Größe'), 'Größe');
  fs.writeFileSync(path('large'), 'x'.repeat(100_000));
  fs.mkdirSync(path('directory'), { mode: 0o750 });
  fs.symlinkSync('file', path('link'));
  fs.symlinkSync('Größe', path('other link'));
  fs.symlinkSync('nowhere', path('broken'));
  fs.symlinkSync('loop', path('loop'));
  const names = ['file', 'Größe', 'large', 'directory', 'link', 'other link', 'broken', 'loop', 'missing'];
  return [
    ...[...names, 'file/below', 'a'.repeat(300)].map(path),
    ...['/', '/dev/null', '/etc/passwd', `/${'a/'.repeat(2500)}`, '', 'with\0zero'],
  ];
}

test.skipIf(!isSupported)('each quick file function returns what node:fs returns', () =>
  inTempDir(async (directory) => {
    for (const path of makeFiles(directory))
      for (const [name, call] of Object.entries(CALLS)) {
        const quick = await newQuickFs();
        const own = outcome(() => call(quick, path));
        expect({ name, path, own }).toEqual({ name, path, own: outcome(() => call(fs, path)) });
      }
  }),
);

test.skipIf(!isSupported)('times, directories and texts are written as node:fs writes them', () =>
  inTempDir(async (directory) => {
    const file = join(directory, 'file');
    const quick = await newQuickFs();
    const descriptor = fs.openSync(file, 'w');
    expect(quick.writeSync(descriptor, 'text\n')).toBe(5);
    expect(quick.writeSync(descriptor, 'Größe\n')).toBe(8);
    expect(fs.readFileSync(file, 'utf8')).toBe('text\nGröße\n');
    for (const seconds of [0, 1_794_967_589.835, 5_000_000_000.25]) {
      (await newQuickFs()).utimesSync(file, seconds, seconds + 1);
      const { atimeMs, mtimeMs } = fs.statSync(file);
      expect([atimeMs, mtimeMs].map(Math.round)).toEqual(
        [seconds, seconds + 1].map((one) => Math.round(one * 1000)),
      );
    }
    const below = join(directory, 'one', 'two');
    (await newQuickFs()).mkdirSync(below, { recursive: true, mode: 0o700 });
    expect((await newQuickFs()).mkdirSync(below, { recursive: true })).toBeUndefined();
    expect(fs.statSync(below).mode & 0o777).toBe(0o700);
    expect(outcome(() => quick.mkdirSync(file, { recursive: true }))).toEqual({ code: 'EEXIST' });
  }),
);

test('the constants have the values of this system', async () => {
  const { constants } = await newQuickFs();
  for (const [name, value] of Object.entries(constants))
    expect({ name, value }).toEqual({ name, value: fs.constants[name as keyof typeof fs.constants] });
});

test('a function that is not replaced is the one of node:fs', () =>
  inTempDir(async (directory) => {
    const quick = await newQuickFs();
    quick.writeFileSync(join(directory, 'file'), 'text');
    expect(quick.readdirSync(directory)).toEqual(['file']);
    quick.rmSync(join(directory, 'file'));
    expect(quick.existsSync(join(directory, 'file'))).toBe(false);
  }));
