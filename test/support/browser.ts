import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { printed } from './http.ts';
import type { Sandbox } from './queuectl.ts';

const CACHE = resolve(import.meta.dir, '../../node_modules/.cache');
const FLAGS = [
  ...['--no-sandbox', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  '--no-first-run',
];

/** The Chromium of the package, unpacked once: aside, and moved into place, since test files run side by side. */
async function unpacked(): Promise<string> {
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
      // Somebody else was first.
    }
  }
  rmSync(aside, { recursive: true, force: true });
  return join(place, 'chromium');
}

export async function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: await unpacked(), headless: true, args: FLAGS });
}

export interface Dashboard {
  page: Page;
  /** Without the token. */
  origin: string;
  token: string;
  /** The server, as somebody who ends it. */
  stop(): Promise<void>;
  /** The same without a word. */
  kill(): Promise<void>;
  /** What no page may ever do: dialogs, errors of scripts, refusals of the content security policy. */
  wrongs: string[];
  /** Another page of it, with the session of the browser. */
  show(path: string): Promise<void>;
}

/** Starts the server and opens the address that it prints. */
export async function openDashboard(box: Sandbox, browser: Browser, ...flags: string[]): Promise<Dashboard> {
  const port = flags.includes('--port') ? [] : ['--port', '0'];
  const server = box.start(['serve', ...port, ...flags]);
  const { url, token } = await printed(server);
  const origin = url.replace(/\/$/, '');
  const context = await browser.newContext({ locale: 'en-GB' });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const wrongs: string[] = [];
  page.on('dialog', (dialog) => {
    wrongs.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('pageerror', (error) => wrongs.push(`an error: ${error.message}`));
  page.on('console', (message) => {
    if (/content security|trusted type/i.test(message.text())) wrongs.push(message.text());
  });
  await page.goto(`${url}#token=${token}`);
  // A page that is left before the login would not be logged in.
  await page.locator('.frame').waitFor();
  const end = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    process.kill(server.pid, signal);
    await server.exit;
  };
  return {
    ...{ page, origin, token, wrongs },
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
