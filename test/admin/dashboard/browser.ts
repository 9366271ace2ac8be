import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { bundleDashboard } from '../../../scripts/build/dashboard.ts';
import { isInstalled } from '../../support/debian.ts';
import { type TestAdmin, TOKEN } from '../support.ts';

/** Appended to titles of suites that are skipped, with what to install; empty if the browser is installed. */
export const missing = isInstalled('chromium') ? '' : ': apt-get install chromium';

/** A browser, and the folder of the built dashboard. */
export interface TestBrowser {
  readonly folder: string;
  /** Errors in the console of the browser, and uncaught ones. */
  readonly problems: string[];
  open(options?: { colorScheme?: 'light' | 'dark'; width?: number }): Promise<Page>;
  close(): Promise<void>;
}

/** Builds the dashboard and starts a browser. */
export async function openBrowser(): Promise<TestBrowser> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-dashboard-'));
  const problems: string[] = [];
  await bundleDashboard(folder);
  const browser: Browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  });
  return {
    folder,
    problems,
    async open({ colorScheme = 'light', width = 1280 } = {}) {
      const context = await browser.newContext({ colorScheme, viewport: { width, height: 900 } });
      const opened = await context.newPage();
      opened.on('pageerror', (error) => problems.push(String(error)));
      opened.on('console', (message) => {
        // The browser reports each rejected request: wrong tokens, and texts with errors.
        const isRejection = /status of (?:401|422)/.test(message.text());
        if (message.type() === 'error' && !isRejection) problems.push(message.text());
      });
      return opened;
    },
    async close() {
      await browser.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Opens the page as `sluice dashboard` does. */
export async function signIn(one: TestAdmin, page: Page, token = TOKEN): Promise<void> {
  const { body } = await one.ask('/v1/dashboard/codes', { method: 'POST', token });
  await page.goto(`http://${one.admin.address}/#code=${body.code}`);
  await page.waitForSelector('nav');
}

/** Replaces the text of the configuration editor. */
export async function edit(page: Page, change: (text: string) => string): Promise<void> {
  // The editor draws only the visible lines, which are all lines of a short text.
  const text = change((await page.locator('.cm-line').allTextContents()).join('\n'));
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+A');
  await page.keyboard.insertText(text);
}
