import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { readAddress } from './http.ts';
import type { Sandbox } from './queuectl.ts';

const CACHE = resolve(import.meta.dir, '../../node_modules/.cache');
const FLAGS = [
  ...['--no-sandbox', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  '--no-first-run',
];

/**
 * Unpacks the Chromium of the package once and returns its path. Test files run in parallel, so it is unpacked aside
 * and moved into place.
 */
async function unpackChromium(): Promise<string> {
  const { default: packed } = await import('@sparticuz/chromium');
  mkdirSync(CACHE, { recursive: true });
  const aside = mkdtempSync(join(CACHE, 'chromium-'));
  const place = join(CACHE, 'chromium');
  const { TMPDIR } = process.env;
  const there = await Bun.file(join(place, 'chromium')).exists();
  if (!there) {
    process.env.TMPDIR = aside;
    await packed.executablePath();
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
    try {
      renameSync(aside, place);
    } catch {
      // Another test file was first.
    }
  }
  rmSync(aside, { recursive: true, force: true });
  return join(place, 'chromium');
}

export async function launch(variables: Record<string, string> = {}): Promise<Browser> {
  return chromium.launch({
    ...{ executablePath: await unpackChromium(), headless: true, args: FLAGS },
    env: { ...process.env, ...variables },
  });
}

export interface Dashboard {
  page: Page;
  /** The address of the server without the token. */
  origin: string;
  token: string;
  /** Ends the server with SIGTERM. */
  stop(): Promise<void>;
  /** Ends the server with SIGKILL. */
  kill(): Promise<void>;
  /** Collects what no page may ever cause: dialogs, script errors, violations of the content security policy. */
  violations: string[];
  /** Opens another page of the dashboard in the same session. */
  show(path: string): Promise<void>;
}

/** Starts the server and opens the address that it prints. */
export async function openDashboard(box: Sandbox, browser: Browser, ...flags: string[]): Promise<Dashboard> {
  const port = flags.includes('--port') ? [] : ['--port', '0'];
  const server = box.start(['serve', ...port, ...flags]);
  const { url, token } = await readAddress(server);
  const origin = url.replace(/\/$/, '');
  const context = await browser.newContext({ locale: 'en-GB' });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const violations: string[] = [];
  page.on('dialog', (dialog) => {
    violations.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('pageerror', (error) => violations.push(`an error: ${error.message}`));
  page.on('console', (message) => {
    if (/content security|trusted type/i.test(message.text())) violations.push(message.text());
  });
  await page.goto(`${url}#token=${token}`);
  // A page that is left before the login has ended would not be logged in.
  await page.locator('.frame').waitFor();
  const end = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    process.kill(server.pid, signal);
    await server.exit;
  };
  return {
    ...{ page, origin, token, violations },
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    async show(path) {
      await page.goto(origin + path);
    },
  };
}

/** Enters the token on a page that asks for it and gives this reason. */
export async function logIn(page: Page, token: string, reason: string): Promise<void> {
  await page.locator('.login-reason', { hasText: reason }).waitFor();
  await page.getByLabel('Address or token').fill(token);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.locator('.frame').waitFor();
}
