import { deepEqual, equal, ok } from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { until } from '../../support/conditions.ts';
import { json, startBackend, type TestBackend } from '../../support/gateway.ts';
import { openAdmin, type TestAdmin, TOKEN } from '../support.ts';
import { missing, openBrowser, type TestBrowser } from './browser.ts';

/** The element that receives keys. */
interface Focused {
  readonly name: string;
  readonly isBody: boolean;
  /** Whether the page shows that the element has the focus. */
  readonly isShown: boolean;
}

/** Expression for the focused element, also in the shadow tree of the editor, which shows the focus around itself. */
const FOCUSED = `(() => {
  let at = document.activeElement;
  while (at.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  const name = at.getAttribute('aria-label') ?? at.labels?.[0]?.firstChild?.textContent ?? at.textContent;
  const { outlineStyle, outlineWidth } = getComputedStyle(at.getRootNode().host ?? at);
  return { name: name.trim(), isBody: at === document.body, isShown: outlineStyle === 'solid' && outlineWidth === '2px' };
})()`;

/** More than the elements of any view that can have the focus. */
const MOST_TABS = 80;
/** Number of times to look for the mark of the focus; each one takes about a millisecond. */
const MOST_LOOKS = 500;

(missing ? describe.skip : describe)(`the dashboard with the keyboard alone${missing}`, function () {
  this.timeout(120_000);
  let browser: TestBrowser;
  let backend: TestBackend;
  let one: TestAdmin;
  let page: Page;

  before(async () => {
    browser = await openBrowser();
    backend = await startBackend(json({ name: 'Ada' }));
    const endpoints = [{ endpoint: '/good', backend: [{ host: [backend.url], url_pattern: '/' }] }];
    one = await openAdmin({ version: 4, endpoints }, { dashboard: browser.folder });
    page = await browser.open();
  });
  after(async () => {
    await browser?.close();
    await one?.close();
    await backend?.close();
  });

  const focused = async () => (await page.evaluate(FOCUSED)) as Focused;

  /** The editor shows its focus a moment after it has received it. */
  async function isShown(): Promise<boolean> {
    for (let looks = 0; looks < MOST_LOOKS; looks++) if ((await focused()).isShown) return true;
    return false;
  }

  /** Presses Tab until an element with this name has the focus, which every element on the way must show. */
  async function tabTo(name: string | RegExp): Promise<void> {
    const passed: string[] = [];
    for (let presses = 0; presses < MOST_TABS; presses++) {
      await page.keyboard.press('Tab');
      const at = await focused();
      passed.push(at.name);
      // After the last element of the page, the browser itself has the focus.
      ok(at.isBody || (await isShown()), `the focus of "${at.name}" is not visible`);
      if (typeof name === 'string' ? at.name === name : name.test(at.name)) return;
    }
    throw new Error(`Tab does not reach ${name}: ${passed.join(', ')}`);
  }

  const editorHasFocus = () => until(async () => (await focused()).name === 'Configuration');

  it('is opened, and a change is made, corrected, applied and undone', async () => {
    const { keyboard } = page;
    await page.goto(`http://${one.admin.address}`);
    await page.waitForSelector('input[type=password]');
    await tabTo('Admin token');
    await keyboard.type(TOKEN);
    await keyboard.press('Enter');
    await page.waitForSelector('nav');

    await tabTo('Configuration');
    await keyboard.press('Enter');
    await page.locator('h1', { hasText: 'Configuration' }).waitFor();
    await page.getByText('valid', { exact: true }).waitFor();

    await tabTo('Configuration');
    equal(await page.evaluate(`document.activeElement.className`), 'editor');
    await keyboard.press('Control+Home');
    await keyboard.press('End');
    await keyboard.press('Enter');
    await keyboard.type('"tiemout": "3s",');
    await keyboard.press('Escape');
    await page.locator('.cm-lintRange-error').first().waitFor();

    for (let times = 0; times < 2; times++) {
      await tabTo(/:2:3$/);
      await keyboard.press('Enter');
      await page.locator('.cm-activeLine', { hasText: 'tiemout' }).waitFor();
      await editorHasFocus();
    }
    await tabTo('Fix');
    await keyboard.press('Enter');
    await page.locator('.cm-activeLine', { hasText: '"timeout": "3s"' }).waitFor();
    await page.getByText('valid', { exact: true }).waitFor();
    await editorHasFocus();

    const { revision } = one.gateway.status;
    await tabTo('Message');
    await keyboard.type('by keyboard');
    await tabTo('Apply');
    await keyboard.press('Enter');
    await page.getByText(`Guard of revision ${revision + 1}: watching`).waitFor();

    await tabTo(`Undo: return to revision ${revision}`);
    await keyboard.press('Enter');
    await page
      .locator('.cm-content')
      .filter({ hasNotText: 'timeout' })
      .or(page.getByText('was applied meanwhile'))
      .first()
      .waitFor();
    equal(one.gateway.status.revision, revision + 2);
    deepEqual(browser.problems, [], 'errors in the console of the browser');
  });
});
