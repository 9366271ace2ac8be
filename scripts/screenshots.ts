// Takes screenshots of every view of the dashboard, in both themes and on a narrow screen:
// `node scripts/screenshots.ts FOLDER`. `--samples` also renews the pictures of samples/dashboard.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { chromium, type Page } from 'playwright-core';
import { bundleDashboard } from './build/dashboard.ts';

/** Time for which the gateway serves traffic before the first picture, in milliseconds: long enough for a reload. */
const TRAFFIC_MS = 45_000;

const views: Readonly<Record<string, string>> = {
  overview: 'overview',
  topology: 'topology',
  endpoint: 'endpoint?id=GET%20%2Forders%2F%7Bid%7D',
  try: 'try?method=GET&path=%2Fhome%2F1',
  configuration: 'configuration',
  history: 'history',
  plugins: 'plugins',
  agents: 'agents',
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { samples: { type: 'boolean', default: false } },
});
const [folder = 'dist/screenshots'] = positionals;
mkdirSync(folder, { recursive: true });
await bundleDashboard('dist/dashboard');
const gateway = spawn(process.execPath, ['kernel/bin.ts', 'dashboard', '--demo', '--print'], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
try {
  const link = await firstLink();
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  await page.goto(link);
  await page.waitForSelector('nav');
  await delay(TRAFFIC_MS);
  const { origin } = new URL(link);
  for (const [name, address] of Object.entries(views)) await picture(page, origin, name, address);
  await browser.close();
} finally {
  gateway.kill('SIGTERM');
  await once(gateway, 'exit');
}
if (values.samples) {
  for (const name of ['overview', 'topology', 'configuration']) {
    const source = join(folder, `${name}-light.png`);
    const quantize = ['--force', '--quality', '60-90', '--output', `samples/dashboard/${name}.png`, source];
    const { status, error } = spawnSync('pngquant', quantize, { stdio: 'inherit' });
    if (status !== 0) throw new Error(`pngquant failed (apt-get install pngquant): ${error?.message ?? status}`);
  }
}
console.log(`wrote ${folder}`);

async function firstLink(): Promise<string> {
  for await (const line of createInterface(gateway.stdout)) if (line.includes('#code=')) return line.trim();
  throw new Error('the gateway ended without a link');
}

async function picture(page: Page, origin: string, name: string, address: string): Promise<void> {
  await page.goto(`${origin}/#/${address}`);
  await page.locator('h1').first().waitFor();
  if (name === 'try') await page.getByText('Send', { exact: true }).click();
  if (name === 'configuration') await showError(page);
  // Figures by the second begin with the view.
  await delay(3000);
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [1280, 360]) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: width === 360 ? 800 : 900 });
      await delay(500);
      const suffix = width === 360 ? `${colorScheme}-narrow` : colorScheme;
      await page.screenshot({ path: join(folder, `${name}-${suffix}.png`), fullPage: width === 360 });
    }
  }
  await page.setViewportSize({ width: 1280, height: 900 });
}

/** Types a misspelled field, so that the picture shows the error with its correction. */
async function showError(page: Page): Promise<void> {
  const line = page.locator('.cm-line', { hasText: '"timeout"' }).first();
  await line.waitFor();
  await line.click();
  await page.keyboard.press('Home');
  for (let step = 0; step < 4; step++) await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Delete');
  await page.locator('.cm-lintRange-error').first().waitFor();
}
