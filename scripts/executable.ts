import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type BuildConfig, type BunPlugin, Glob } from 'bun';

/** The options that split the program into parts. docs/internals/executable.md gives the reason for each option in this file. */
const PARTS = {
  target: 'bun',
  format: 'esm',
  minify: true,
  splitting: true,
  minChunkSize: 65_536,
  allowUnresolved: [],
} satisfies Partial<BuildConfig>;

/** Returns the options that build a program in the current directory into files in another, in the same parts as the executable. */
export function bundledBuild(program: string, directory: string): BuildConfig {
  return {
    ...PARTS,
    entrypoints: [program],
    plugins: [enqueueInOnePart()],
    outdir: directory,
    metafile: true,
  };
}

/** Returns the options that compile a program in the current directory. `order` is a file that lists functions, as the runtime writes it. */
export function compiledBuild(program: string, file: string, order?: string): BuildConfig {
  return {
    ...PARTS,
    entrypoints: [program],
    plugins: [enqueueInOnePart()],
    bytecode: true,
    sourcemap: 'linked',
    compile: {
      outfile: file,
      autoloadDotenv: false,
      autoloadBunfig: false,
      execArgv: ['--unhandled-rejections=throw'],
      jitPolicy: 4,
      bytecodeOrder: order ?? null,
    },
  };
}

/** The module that imports all that `enqueue` needs. */
const MODULE_OF_ENQUEUE = 'src/cli/frame/run.ts';

/**
 * Puts all that `enqueue` loads into one part. The bundler makes a part for each set of modules that the same entry points
 * need, and each target of an `import()` is an entry point. So every target gets an import of all that `enqueue` loads, and this is
 * always loaded, because the program itself gets it, too.
 */
function enqueueInOnePart(): BunPlugin {
  const importIt = `import '${resolve(MODULE_OF_ENQUEUE)}';`;
  const entryPoints = importedOnDemand().add(resolve('src/cli/main.ts'));
  return {
    name: 'enqueue-in-one-part',
    setup(build) {
      const isQuick = usesGlibc();
      build.onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => {
        const source = readFileSync(path, 'utf8');
        const text = isQuick ? withQuickModules(source) : source;
        const contents = entryPoints.has(path) ? text.replace(/^(#!.*\n)?/, `$1${importIt}`) : text;
        return { contents, loader: 'ts' };
      });
    },
  };
}

/** Tells whether the runtime, which becomes a part of the executable, uses the C library that quick-fs.ts calls. */
export function usesGlibc(): boolean {
  if (process.platform !== 'linux' || process.arch !== 'x64') return false;
  const report = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  return report.header.glibcVersionRuntime !== undefined;
}

/** Returns a source file that uses the parts of two modules of the runtime which load faster. */
function withQuickModules(source: string): string {
  return source.replace(
    / from 'node:(fs|path)';/g,
    (_, name) => ` from '${join(import.meta.dir, `quick-${name}.ts`)}';`,
  );
}

/** Returns the paths of all modules that an `import()` loads. */
function importedOnDemand(): Set<string> {
  const found = new Set<string>();
  for (const name of new Glob('src/**/*.ts').scanSync())
    for (const [, target] of readFileSync(name, 'utf8').matchAll(/(?<!typeof )\bimport\('(\.[^']+)'\)/g))
      found.add(resolve(name, '..', target!));
  return found;
}
