/**
 * Builds ui/ into src/http/assets.generated.ts, which the server serves. Git ignores that file. `npm run build` and
 * `npm run check` create it first, so that it is never outdated.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

const TARGET = 'src/http/assets.generated.ts';
const TYPES: Record<string, string> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  html: 'text/html; charset=utf-8',
  json: 'application/json',
};

interface Asset {
  body: string;
  type: string;
  /** True if the name contains a hash of the content, so that browsers may cache it forever. */
  hashed: boolean;
}

const assets: Record<string, Asset> = {};

/** Adds an asset and returns its path, which contains a hash of the content. */
function addAsset(name: string, body: string): string {
  const [stem, ending] = name.split(/\.(?=\w+$)/) as [string, string];
  const hash = createHash('sha256').update(body).digest('base64url').slice(0, 8);
  const path = `/assets/${stem}-${hash}.${ending}`;
  assets[path] = { body, type: TYPES[ending]!, hashed: true };
  return path;
}

async function buildScript(): Promise<string> {
  const grafana = addAsset('grafana.json', readFileSync('contrib/grafana-dashboard.json', 'utf8'));
  const built = await Bun.build({
    entrypoints: ['ui/main.tsx'],
    target: 'browser',
    minify: true,
    splitting: true,
    // The files refer to each other by relative paths, so that they work behind any prefix of a URL.
    publicPath: './',
    naming: { entry: '[name]-[hash].js', chunk: '[name]-[hash].js' },
    define: { 'process.env.NODE_ENV': '"production"', GRAFANA: JSON.stringify(grafana) },
  });
  let entry = '';
  for (const output of built.outputs) {
    const path = `/assets/${output.path.replace(/^\.?\//, '')}`;
    assets[path] = { body: await output.text(), type: TYPES.js!, hashed: true };
    if (output.kind === 'entry-point') entry = path;
  }
  return entry;
}

async function buildStyle(): Promise<string> {
  const sheets = readdirSync('ui/style').sort();
  const built = await Bun.build({ entrypoints: sheets.map((name) => `ui/style/${name}`), minify: true });
  const texts = await Promise.all(built.outputs.map((output) => output.text()));
  return addAsset(
    'style.css',
    [readFileSync('node_modules/uplot/dist/uPlot.min.css', 'utf8'), ...texts].join(''),
  );
}

const page = readFileSync('ui/index.html', 'utf8')
  .replace('FAVICON', addAsset('favicon.svg', readFileSync('ui/favicon.svg', 'utf8')))
  .replace('STYLE', await buildStyle())
  .replace('SCRIPT', await buildScript());
assets['/index.html'] = { body: page, type: TYPES.html!, hashed: false };

const rows = Object.entries(assets).map(
  ([path, asset]) => `  ${JSON.stringify(path)}: ${JSON.stringify(asset)},\n`,
);
writeFileSync(
  TARGET,
  `/** Made by scripts/ui.ts from ui/. */\nexport const ASSETS: Record<string, { body: string; type: string; hashed: boolean }> = {\n${rows.join('')}};\n`,
);
