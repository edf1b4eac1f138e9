import { spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { actorOf } from '../../actions/app.ts';
import { clearBrowserPages } from '../../actions/leftovers.ts';
import { invalidValue } from '../../core/errors.ts';
import { lowerPriority } from '../../exec/self.ts';
import type { RunningServer } from '../../http/server.ts';
import { defineCommand } from '../frame/command.ts';
import { untilSignal } from '../frame/interrupt.ts';
import type { Io } from '../frame/io.ts';
import { numberFlag } from '../frame/read-flags.ts';

const RATE_RANGE = { min: 1, max: 1_000_000, integer: true };
const PORT_RANGE = { min: 0, max: 65_535, integer: true };

const serve = defineCommand({
  name: 'serve',
  summary: 'Serve the HTTP API, the dashboard and the metrics',
  creates: true,
  flags: {
    host: { value: 'ADDRESS', help: 'address to listen on (default: 127.0.0.1 and ::1)' },
    port: { value: 'N', help: 'port to listen on; 0 selects a free port (default: 7780)' },
    'read-only': { help: 'do not allow changes, and print the read-only token' },
    'allow-remote': { help: 'allow a --host address that other machines can reach' },
    'public-metrics': { help: 'serve /metrics without a token' },
    'rotate-token': { help: 'create new tokens, and end all sessions and event streams of running servers' },
    'max-rate': {
      value: 'N',
      help: 'maximum number of changes per second; short bursts can be ten times as large (default: 5000)',
    },
    url: {
      value: 'URL',
      help: 'fixed URL of the dashboard, for example behind a reverse proxy: https://ops.example.org/queue/',
    },
    open: { help: 'open the dashboard in a browser' },
  },
  examples: [
    'queuectl serve',
    'queuectl serve --port 8080 --read-only',
    'queuectl serve --open',
    'queuectl serve --host 0.0.0.0 --allow-remote',
    'queuectl serve --url https://ops.example.org/queue/',
  ],
  notes: [
    'On a terminal, the command prints a URL that contains the access token. If the output is not a terminal, it prints the URL and the path of the token file instead, so that the token does not appear in logs. Programs send the token in the header Authorization: Bearer TOKEN.',
    'The name in the URL of the dashboard is new at each start, so that other programs that once used the port have nothing in the browser that could read the token. Programs use http://127.0.0.1:7780/. If your browser cannot open names that end in .localhost, use --url http://127.0.0.1:7780/.',
    'Anyone with this token can run commands as you. There is also a read-only token, which does not allow changes. It is in the file token-read-only next to the token file.',
    'The server describes its API at /api/v1/openapi.json. Ctrl-C stops the server but not the workers. The server runs with a lower CPU priority (niceness 5).',
  ],
  async run({ io, app, location, environment, anyOwner, storeTimeoutMs }, input) {
    const port = numberFlag(input, 'port', PORT_RANGE) ?? 7780;
    const { openApp } = await import('../../actions/app.ts');
    const { startServer } = await import('../../http/server.ts');
    const opened = await app({ lasts: true });
    clearBrowserPages(opened.stateDirectory);
    const server = await startServer(opened, {
      location,
      host: input.one('host') ?? '127.0.0.1',
      port,
      readOnly: input.has('read-only'),
      allowRemote: input.has('allow-remote'),
      publicMetrics: input.has('public-metrics'),
      rotateToken: input.has('rotate-token'),
      anyOwner,
      maxRate: numberFlag(input, 'max-rate', RATE_RANGE) ?? 5000,
      url: input.one('url') === undefined ? null : readUrl(input.one('url')!),
      reopen: () =>
        openApp(location, actorOf(environment), {
          access: 'read',
          ifMissing: 'refuse',
          anyOwner,
          storeTimeoutMs,
        }),
      onError: (error, requestId) =>
        io.err(
          `${new Date().toISOString()} request=${requestId} error: ${(error as Error)?.message ?? error}\n`,
        ),
    });
    if (server.warning !== null) io.warn(server.warning);
    const secretUrl = server.dashboardUrl + server.fragment;
    io.out(addressText(server, io, secretUrl));
    const warnNoBrowser = (): void => io.warn('could not open a browser. Open the printed URL yourself');
    const removePage = input.has('open')
      ? openBrowser(opened.stateDirectory.path, secretUrl, warnNoBrowser)
      : () => {};
    // The priority is lowered last, because the browser would inherit it.
    lowerPriority();
    try {
      await untilSignal();
    } finally {
      removePage();
      await server.close();
    }
  },
});

/** Returns the addresses to print. Without a terminal, they may end up in a log that others can read, so they have no token. */
function addressText(server: RunningServer, io: Io, secretUrl: string): string {
  const { url, dashboardUrl, tokenFile } = server;
  const shownUrl = io.tty ? secretUrl : dashboardUrl;
  if (io.json) return `${JSON.stringify({ url, dashboard_url: shownUrl, token_file: tokenFile })}\n`;
  const hasOwnName = dashboardUrl !== url;
  if (io.tty) return `${shownUrl}\n${hasOwnName ? `API for programs: ${url}\n` : ''}`;
  return `${url}\ntoken file: ${tokenFile}\n${hasOwnName ? `dashboard: ${dashboardUrl}\n` : ''}`;
}

/** Reads --url, and ends its path in a slash. The proxy removes this path from the requests that it forwards. */
function readUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.username || url.search || url.hash)
    throw invalidValue(`--url must be an http or https URL, not '${text}'`);
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  return url;
}

/** Opens a secret URL through a private page, because all users can see process arguments. Returns a function that removes it. */
function openBrowser(directory: string, url: string, onFailure: () => void): () => void {
  const page = join(directory, `open-${process.pid}.html`);
  writeFileSync(page, `<!doctype html><meta http-equiv="refresh" content="0;url=${url}">\n`, { mode: 0o600 });
  const program = process.platform === 'darwin' ? 'open' : 'xdg-open';
  spawn(program, [page], { stdio: 'ignore', detached: true })
    .on('error', onFailure)
    .on('exit', (code) => code !== null && code !== 0 && onFailure())
    .unref();
  return () => rmSync(page, { force: true });
}

/** The same command as `serve`, under a name that is easier to find. */
const dashboard = defineCommand({
  ...serve,
  name: 'dashboard',
  summary: 'Start the dashboard (same as serve)',
  examples: ['queuectl dashboard --open'],
});

export default { serve, dashboard };
