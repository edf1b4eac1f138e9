/** Checks what no linter does: imports between layers, sizes, unused exports, names, and words that files must not use. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { COMMANDS } from '../src/cli/frame/commands.ts';

/** A layer may import itself and the layers listed here. */
const MAY_IMPORT: Record<string, string[]> = {
  core: [],
  files: ['core'],
  state: ['core', 'files'],
  store: ['core', 'files', 'state'],
  exec: ['core', 'files', 'state'],
  actions: ['core', 'files', 'state', 'store', 'exec'],
  worker: ['core', 'files', 'state', 'store', 'exec', 'actions'],
  observe: ['core'],
  library: ['core', 'store', 'actions', 'worker'],
  http: ['core', 'files', 'state', 'store', 'exec', 'actions', 'worker', 'observe'],
  cli: ['core', 'files', 'state', 'store', 'exec', 'actions', 'worker', 'observe', 'http'],
  'index.ts': ['core', 'library'],
};
/** core does no I/O and uses no package except two for cron expressions. */
const ALLOWED_IN_CORE = /^(\.|croner$|cronstrue$)/;
/** Matches Bun's own modules, which are forbidden because the same source runs on Node. */
const BUN_MODULE = /^bun(:|$)/;
/** These layers call actions and never the store itself. */
const WITHOUT_STORE = ['cli', 'http', 'library'];
/** The files of the store from which these layers may import more than types. */
const IMPORTABLE_STORE_FILES = ['store/location.ts', 'store/schema/version.ts'];
/** Matches words about SQLite and its files, which belong in src/store/sqlite/. */
const SQLITE_WORD = /-(?:wal|shm|journal)\b|\bPRAGMA\b|sqlite/i;
/** Files outside src/store/sqlite/ that may use such words, and what for. */
const MAY_NAME_SQLITE: Record<string, string> = {
  'store/open.ts': 'chooses this store',
  'store/location.ts': 'the scheme of a database URL',
  'store/postgres/open.ts': 'opens an empty store in memory in place of a missing one',
  'core/errors.ts': 'an error code, and hints for users',
  'http/problem.ts': 'the same error code',
  'cli/commands/doctor.ts': 'the help text',
  'library/types.ts': 'the order of events on each kind of store',
  'cli/commands/version.ts': 'prints the versions of SQLite and of the schema',
};
/** The one file that has a function for Bun and another for Node. */
const FOR_BUN_AND_NODE = 'exec/start.ts';
/** The first words of all commands. */
const COMMAND_WORDS = Object.keys(COMMANDS);
/** Matches a shell command in a template string that inserts something. Other uses of the word queuectl are prose. */
const COMMAND_IN_TEMPLATE = new RegExp(
  String.raw`\b((?:queuectl (?=--|help|\$\{|${COMMAND_WORDS.join('|')})|(?:createdb|mkdir|rmdir|chmod|chown|cp|mv|rm|-samefile) )[^\n\x60]*\$\{[^\n\x60]*)`,
  'g',
);
/** Matches an expression that is one quoted word, a number, or a word of queuectl itself. */
const QUOTED =
  /\b(?:shellWord|pathWord|storeWord|pasteableIds|targetArguments)\b|^(?:word|command\.name|commandName|holder|when|[A-Z_]+)$/;
const MAX_FILE_LINES = 400;
const MAX_FUNCTION_LINES = 80;
/** The most lines that a layer may have. To raise a number, give the reason in the commit. Lower it after a layer has shrunk. */
const MAX_LAYER_LINES: Record<string, number> = {
  core: 5_550,
  files: 730,
  state: 1_060,
  store: 14_576,
  exec: 1_500,
  actions: 4_960,
  worker: 3_240,
  observe: 410,
  http: 2_990,
  cli: 9_560,
  library: 890,
  'index.ts': 31,
};
const MAX_FILES_IN_FOLDER = 25;
/** Matches the last line of a function's head, but not the head of another block. */
const OPENS_FUNCTION =
  /=> [({[]+$|^(?!\s*(?:\} )?(?:if|for|while|switch|else|catch|try|do)\b).*\)(?:: .+)? \{$/;

const problems: string[] = [];
const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.ts'),
);

for (const name of files) {
  const text = readFileSync(join('src', name), 'utf8');
  const lines = text.split('\n').length;
  if (lines > MAX_FILE_LINES) problems.push(`src/${name}: ${lines} lines; split it by topic`);
  checkFunctionLengths(name, text.split('\n'));
  if (/\bBun\./.test(text) && name !== FOR_BUN_AND_NODE)
    problems.push(`src/${name}: uses Bun.*, which Node does not have`);
  if (name !== 'cli/main.ts' && text.includes('process.exit('))
    problems.push(`src/${name}: exits; only main may`);
  for (const [, from] of text.matchAll(/(?:from|import\(|import)\s*'([^']+)'/g)) checkImport(name, from!);
  if (!name.startsWith('store/sqlite/') && !(name in MAY_NAME_SQLITE) && !name.endsWith('.generated.ts')) {
    const [word] = SQLITE_WORD.exec(text) ?? [];
    if (word !== undefined)
      problems.push(`src/${name}: mentions SQLite ('${word}'); move that to store/sqlite/`);
  }
  if (WITHOUT_STORE.includes(layerOf(name))) checkStoreUse(name, text);
  if (!name.endsWith('.generated.ts')) checkHints(`src/${name}`, text);
}

/** Finds hints with an id, a name or a path that is not quoted. Such a hint could run anything when it is pasted into a shell. */
function checkHints(name: string, text: string): void {
  for (const [, rest] of text.matchAll(COMMAND_IN_TEMPLATE))
    for (const [inserted, expression] of rest!.matchAll(/\$\{((?:[^{}]|\{[^}]*\})*)\}/g))
      if (!QUOTED.test(expression!))
        problems.push(`${name}: the command '${rest!.trim()}' contains ${inserted} without shellWord()`);
}

function checkStoreUse(name: string, text: string): void {
  for (const [, verb] of text.matchAll(/\bstore\s*\??\.\s*(\w+)\(/g))
    problems.push(`src/${name}: calls store.${verb}; call an action`);
  for (const [, from] of text.matchAll(/(?:^import (?!type )[^;]*? from |import\()'([^']+)'/gm)) {
    const target = normalize(join(dirname(name), from!));
    if (layerOf(target) === 'store' && !IMPORTABLE_STORE_FILES.includes(target))
      problems.push(`src/${name}: imports more than types of ${target}; call an action`);
  }
}

/** Checks the length of functions. In formatted code the last line of a function is indented like its first. */
function checkFunctionLengths(name: string, lines: string[]): void {
  const indentation = (line: string): number => line.search(/\S/);
  for (const [at, line] of lines.entries()) {
    if (!OPENS_FUNCTION.test(line)) continue;
    const isInside = (other: string): boolean => other === '' || indentation(other) > indentation(line);
    let first = at;
    // A head with one parameter per line starts further up.
    if (/^\s*[)\]}]/.test(line))
      do first--;
      while (isInside(lines[first]!));
    const length = lines.slice(at + 1).findIndex((other) => !isInside(other)) + at + 2 - first;
    if (length > MAX_FUNCTION_LINES)
      problems.push(`src/${name}:${first + 1}: a function of ${length} lines; split it into steps`);
  }
}

function checkImport(name: string, from: string): void {
  const layer = layerOf(name);
  if (BUN_MODULE.test(from)) problems.push(`src/${name}: imports ${from}, which Node does not have`);
  if (layer === 'core' && !ALLOWED_IN_CORE.test(from)) problems.push(`src/${name}: core imports ${from}`);
  if (!from.startsWith('.')) return;
  const target = normalize(join(dirname(name), from));
  if (target.startsWith('..')) {
    if (target !== '../package.json') problems.push(`src/${name}: imports ${from} outside src/`);
    return;
  }
  const other = layerOf(target);
  if (other !== layer && !MAY_IMPORT[layer]?.includes(other)) {
    problems.push(`src/${name}: ${layer} may not import ${other} (${from})`);
  }
}

function layerOf(name: string): string {
  return name.split('/')[0]!;
}

// An exported name that no other file uses is dead code, or need not be exported.
const allFiles = [...files.map((name) => join('src', name)), ...filesOutsideSrc()];
const texts = new Map(allFiles.map((name) => [name, readFileSync(name, 'utf8')]));
for (const name of files.map((file) => join('src', file))) {
  if (name === 'src/index.ts') continue;
  for (const [, symbol] of texts
    .get(name)!
    .matchAll(/^export (?:async )?(?:const|function\*?|class|interface|type) (\w+)/gm)) {
    const used = allFiles.some(
      (other) => other !== name && new RegExp(`\\b${symbol}\\b`).test(texts.get(other)!),
    );
    const usedInside = texts.get(name)!.split(new RegExp(`\\b${symbol}\\b`)).length > 2;
    if (!used && !usedInside) problems.push(`${name}: nothing uses ${symbol}`);
    // A type may be exported for readers, but a value that only its own file uses should not be.
    if (!used && usedInside && !isType(name, symbol!))
      problems.push(`${name}: ${symbol} need not be exported`);
  }
}

function isType(name: string, symbol: string): boolean {
  return new RegExp(`^export (interface|type) ${symbol}\\b`, 'm').test(texts.get(name)!);
}

function filesOutsideSrc(): string[] {
  return ['test', 'bench', 'scripts', 'ui'].flatMap((root) =>
    readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name) && !name.includes('node_modules'))
      .map((name) => join(root, name)),
  );
}

// The dashboard may import types of src/, and the code of src/core/, which does no I/O.
const uiFiles = readdirSync('ui', { recursive: true, encoding: 'utf8' }).filter((name) =>
  /\.tsx?$/.test(name),
);
for (const name of uiFiles) {
  const text = readFileSync(join('ui', name), 'utf8');
  if (text.split('\n').length > MAX_FILE_LINES) problems.push(`ui/${name}: too long; split it by topic`);
  for (const [line] of text.matchAll(/^import .*'[^']*\/src\/[^']*'/gm))
    if (!line.startsWith('import type') && !line.includes('/src/core/'))
      problems.push(`ui/${name}: imports code of src/ outside src/core/`);
  checkHints(`ui/${name}`, text);
  if (/innerHTML|dangerouslySetInnerHTML|insertAdjacentHTML/.test(text))
    problems.push(`ui/${name}: makes markup out of text`);
}

checkSizes();
checkTypeNames();
checkDocuments();

for (const problem of problems) process.stdout.write(`${problem}\n`);
process.stdout.write(`${files.length} source files: ${problems.length} problems
`);
process.exitCode = problems.length === 0 ? 0 : 1;

/** Checks the number of lines of each layer, and the number of files in each folder. */
function checkSizes(): void {
  const written = files.filter((name) => !name.endsWith('.generated.ts'));
  for (const [layer, most] of Object.entries(MAX_LAYER_LINES)) {
    const inLayer = written.filter((name) => layerOf(name) === layer);
    const lines = inLayer.reduce((sum, name) => sum + newlines(texts.get(join('src', name))!), 0);
    if (lines > most) problems.push(`src/${layer}: ${lines} lines; it may have ${most}`);
  }
  for (const [folder, inFolder] of Map.groupBy(written, (name) => dirname(name))) {
    if (inFolder.length > MAX_FILES_IN_FOLDER)
      problems.push(`src/${folder}: ${inFolder.length} files; it may have ${MAX_FILES_IN_FOLDER}`);
  }
}

function newlines(text: string): number {
  return text.split('\n').length - 1;
}

/** Finds types with the same name in two files. Functions may share a name if two stores do the same thing. */
function checkTypeNames(): void {
  const definitions = files.flatMap((name) =>
    [...texts.get(join('src', name))!.matchAll(/^export (?:abstract )?(?:class|interface|type) (\w+)/gm)].map(
      ([, symbol]) => ({ symbol: symbol!, name }),
    ),
  );
  const bySymbol = Map.groupBy(definitions, ({ symbol }) => symbol);
  for (const [symbol, found] of bySymbol)
    if (found.length > 1)
      problems.push(
        `${symbol} is exported by ${found.map(({ name }) => `src/${name}`).join(' and ')}; rename one`,
      );
}

/** Finds the names of source files and directories in documents that do not exist. A name may leave out the directories above it. */
function checkDocuments(): void {
  const roots = ['src', 'test', 'scripts', 'docs', 'contrib', 'bench', 'ui'];
  const paths = roots.flatMap((root) => [
    root,
    ...readdirSync(root, { recursive: true, encoding: 'utf8' }).map((name) => join(root, name)),
  ]);
  const named = new RegExp(String.raw`\x60([\w./-]+\.tsx?|(?:${roots.join('|')})/[\w./-]*)\x60`, 'g');
  const documents = paths.filter((path) => /^docs\/.*\.md$/.test(path));
  for (const document of ['README.md', 'CONTRIBUTING.md', ...documents])
    for (const [, name] of readFileSync(document, 'utf8').matchAll(named))
      if (
        !name!.startsWith('bench/results/') &&
        !paths.some((path) => `/${path}`.endsWith(`/${name!.replace(/\/$/, '')}`))
      )
        problems.push(`${document}: there is no ${name}`);
}
