import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { freePort, readAddress } from './http.ts';
import type { Sandbox } from './queuectl.ts';

const CACHE_DIRECTORY = resolve(import.meta.dir, '../../node_modules/.cache');
const CHROMIUM_FLAGS = [
  ...['--no-sandbox', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  '--no-first-run',
];

/** Returns the path of Chromium. Unpacks it first if necessary, and renames it at the end for tests that run in parallel. */
async function chromiumPath(): Promise<string> {
  const { default: packed } = await import('@sparticuz/chromium');
  mkdirSync(CACHE_DIRECTORY, { recursive: true });
  const temporary = mkdtempSync(join(CACHE_DIRECTORY, 'chromium-'));
  const target = join(CACHE_DIRECTORY, 'chromium');
  const { TMPDIR } = process.env;
  const isUnpacked = await Bun.file(join(target, 'chromium')).exists();
  if (!isUnpacked) {
    process.env.TMPDIR = temporary;
    await packed.executablePath();
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
    try {
      renameSync(temporary, target);
    } catch {
      // Another test file has already renamed its directory.
    }
  }
  rmSync(temporary, { recursive: true, force: true });
  return join(target, 'chromium');
}

/** Starts Chromium. On a busy machine it rarely crashes while it starts (SIGSEGV), so that is tried again. */
export async function launchBrowser(variables: Record<string, string> = {}, tries = 3): Promise<Browser> {
  try {
    return await chromium.launch({
      ...{ executablePath: await chromiumPath(), headless: true, args: CHROMIUM_FLAGS },
      env: { ...process.env, ...variables },
    });
  } catch (error) {
    if (tries <= 1 || !String(error).includes('signal=SIGSEGV')) throw error;
    return launchBrowser(variables, tries - 1);
  }
}

export interface Dashboard {
  page: Page;
  /** The address of the dashboard without the token. */
  origin: string;
  /** The address for programs. */
  api: string;
  token: string;
  /** Sends SIGTERM to the server and waits until it has exited. */
  stop(): Promise<void>;
  /** Sends SIGKILL to the server and waits until it has exited. */
  kill(): Promise<void>;
  /** The dialogs, script errors and violations of the content security policy so far. No page may cause any. */
  violations: string[];
  /** Opens another page of the dashboard in the same session. */
  show(path: string): Promise<void>;
}

/** Returns flags for a server whose dashboard keeps its address after a restart. */
export async function fixedAddress(): Promise<string[]> {
  const port = await freePort();
  return ['--port', String(port), '--url', `http://127.0.0.1:${port}/`];
}

/** Starts the server and opens the address that it prints. */
export async function openDashboard(box: Sandbox, browser: Browser, ...flags: string[]): Promise<Dashboard> {
  const port = flags.includes('--port') ? [] : ['--port', '0'];
  const server = box.start(['serve', ...port, ...flags]);
  const { url: api, dashboard: url, token } = await readAddress(server);
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
  // If the test left the page before the login has ended, the login would be lost.
  await page.locator('.frame').waitFor();
  const end = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    process.kill(server.pid, signal);
    await server.exit;
  };
  return {
    ...{ page, origin, api, token, violations },
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    async show(path) {
      await page.goto(origin + path);
    },
  };
}

/** Waits until the login page shows `reason`, enters the token and waits for the dashboard. */
export async function logIn(page: Page, token: string, reason: string): Promise<void> {
  await page.locator('.login-reason', { hasText: reason }).waitFor();
  await page.getByLabel('Address or token').fill(token);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.locator('.frame').waitFor();
}
