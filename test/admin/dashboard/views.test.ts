import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { startAdmin } from '../../../admin/index.ts';
import { json, startBackend, type TestBackend } from '../../support/gateway.ts';
import { command } from '../../support/programs.ts';
import { openAdmin, type TestAdmin, TOKEN } from '../support.ts';
import { edit, missing, openBrowser, signIn, type TestBrowser } from './browser.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Names of the views, as in the address, with a text that each one shows when it has its data. */
const views = {
  overview: 'Endpoints with traffic',
  topology: 'GET /bad',
  'endpoint?id=GET+%2Fbad': 'Backends',
  try: 'Path and query',
  configuration: 'Apply',
  history: 'active',
  plugins: 'Components of the gateway',
  agents: 'Async agents',
};

(missing ? describe.skip : describe)(`the dashboard in a browser${missing}`, function () {
  this.timeout(120_000);
  let browser: TestBrowser;
  let good: TestBackend;
  let bad: TestBackend;
  let one: TestAdmin;
  let page: Page;
  let origin: string;

  const configuration = () => {
    const endpoint = (path: string, { url }: TestBackend) => {
      return { endpoint: path, backend: [{ host: [url], url_pattern: '/' }] };
    };
    return { version: 4, endpoints: [endpoint('/good', good), endpoint('/bad', bad)] };
  };

  before(async () => {
    browser = await openBrowser();
    good = await startBackend(json({ name: '<img src=x onerror="document.title=1">' }));
    bad = await startBackend(json({}, 500));
  });
  beforeEach(async () => {
    browser.problems.length = 0;
    one = await openAdmin(configuration(), { dashboard: browser.folder });
    origin = `http://${one.admin.address}`;
    page = await browser.open();
  });
  afterEach(async () => {
    await page.context().close();
    await one.close();
    deepEqual(browser.problems, [], 'errors in the console of the browser');
  });
  after(async () => {
    await browser?.close();
    await Promise.all([good?.close(), bad?.close()]);
  });

  async function show(view: string, target = page): Promise<void> {
    await target.goto(`${origin}/#/${view}`);
    const text = views[view as keyof typeof views];
    if (text !== undefined) await target.locator('main').getByText(text, { exact: false }).first().waitFor();
  }

  async function call(path: string, times: number): Promise<void> {
    for (let call = 0; call < times; call++) await one.gateway.inject(path);
  }

  describe('is opened', () => {
    it('with a token, which the tab keeps', async () => {
      await page.goto(origin);
      await page.fill('input[type=password]', 'wrong');
      await page.click('text=Sign in');
      await page.locator('[role=alert]').getByText('the token is not valid').waitFor();
      await page.fill('input[type=password]', TOKEN);
      await page.click('text=Sign in');
      await page.waitForSelector('nav');
      await page.reload();
      await page.waitForSelector('nav');
      equal(await page.evaluate('localStorage.length'), 0);
      equal(await page.evaluate('document.cookie'), '');
    });

    it('by a link with a code, which is spent and leaves the address', async () => {
      const { body } = await one.ask('/v1/dashboard/codes', { method: 'POST' });
      await page.goto(`${origin}/#code=${body.code}`);
      await page.waitForSelector('nav');
      ok(!page.url().includes(body.code));
      const other = await browser.open();
      await other.goto(`${origin}/#code=${body.code}`);
      await other.waitForSelector('input[type=password]');
      await other.context().close();
    });

    it('again with a token, after the session is revoked', async () => {
      const other = await browser.open();
      await other.addInitScript(`sessionStorage.setItem('sluice.token', 'revoked')`);
      await other.goto(origin);
      await other.getByText('The token is no longer valid.').waitFor();
      await other.context().close();
    });
  });

  it('shows each view without serious accessibility problems, in both themes and on a narrow screen', async () => {
    await call('/good', 3);
    await call('/bad', 2);
    const dark = { colorScheme: 'dark' } as const;
    for (const options of [{}, dark, { width: 360 }, { ...dark, width: 360 }]) {
      const target = await browser.open(options);
      await signIn(one, target);
      for (const view of Object.keys(views)) {
        await show(view, target);
        await target.evaluate(axe);
        const found = (await target.evaluate(
          'axe.run({ resultTypes: ["violations"], preload: false }).then(({ violations }) => violations)',
        )) as { id: string; impact: string; nodes: { html: string }[] }[];
        const serious = found.filter(({ impact }) => impact === 'serious' || impact === 'critical');
        deepEqual(
          serious.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)}`),
          [],
          `${view} ${JSON.stringify(options)}`,
        );
        const overflow = await target.evaluate('document.documentElement.scrollWidth - innerWidth');
        ok(Number(overflow) <= 0, `${view} is wider than the screen: ${JSON.stringify(options)}`);
      }
      await target.context().close();
    }
  });

  it('shows the traffic of the last seconds, and which endpoint fails', async () => {
    await signIn(one, page);
    await page.getByText('Live', { exact: true }).click();
    await page.locator('.figure', { hasText: 'Connections' }).waitFor();
    await call('/good', 5);
    await call('/bad', 5);
    const row = page.locator('tr', { hasText: 'GET /bad' });
    await row.getByText('100 %').waitFor();
    await row.getByText('GET /bad').click();
    await page.locator('h1', { hasText: 'GET /bad' }).waitFor();
    await page.getByText('Errors since the start').waitFor();
  });

  it('sends a request, shows its response as text, and explains it', async () => {
    await signIn(one, page);
    await show('try');
    await page.fill('input[required]', '/good');
    await page.getByLabel('Headers, one in each line').fill('X-Example: 1');
    await page.getByText('Send', { exact: true }).click();
    await page.locator('pre', { hasText: '<img src=x' }).waitFor();
    await page.getByText('is not forwarded').first().waitFor();
    match(await page.title(), /Try/);
  });

  it('marks an error while the configuration is edited, applies the mended one and rolls it back', async () => {
    await signIn(one, page);
    await show('configuration');
    await page.locator('.cm-content').waitFor();
    await page.getByText('valid', { exact: true }).waitFor();
    await edit(page, (text) => text.replace('"endpoint": "/good"', '"endpoint": "good"'));
    await page.locator('.issues').getByText('/endpoints/0/endpoint').or(page.locator('.issues li')).first().waitFor();
    await page.locator('.cm-lintRange-error').first().waitFor();
    ok(await page.getByText('Apply', { exact: true }).last().isDisabled());
    await edit(page, (text) => text.replace('"endpoint": "good"', '"endpoint": "/better"'));
    await page.getByText('1 endpoint added').waitFor();
    await page.getByLabel('Message').fill('a better path');
    const { revision } = one.gateway.status;
    await page.getByText('Apply', { exact: true }).last().click();
    await page.getByText(`Guard of revision ${revision + 1}: watching`).waitFor();
    equal((await one.gateway.inject('/better')).statusCode, 200);
    await show('history');
    await page.locator('tr', { hasText: 'a better path' }).getByText('Show change').click();
    await page
      .locator('ins', { hasText: 'better' })
      .or(page.locator('.changes', { hasText: 'better' }))
      .first()
      .waitFor();
    page.once('dialog', (dialog) => dialog.accept());
    await page.getByText('Roll back').first().click();
    await page.locator('tr.active', { hasText: String(revision + 2) }).waitFor();
    equal((await one.gateway.inject('/better')).statusCode, 404);
  });

  it('searches 10,000 endpoints, of which only the visible ones are in the document', async () => {
    const { endpoints } = configuration();
    const many = Array.from({ length: 10_000 }, (_, at) => ({
      ...endpoints[0],
      endpoint: `/group${at % 50}/path${at}`,
    }));
    await one.gateway.reload({ ...configuration(), endpoints: many });
    await signIn(one, page);
    await page.goto(`${origin}/#/topology`);
    await page.getByText('10 k of 10 k endpoints').waitFor();
    ok((await page.locator('.virtual li').count()) < 100);
    ok((await page.locator('svg.topology rect').count()) < 30);
    await page.getByLabel('Search').fill('path7777');
    await page.getByText('1 of 10 k endpoints').waitFor();
    await page.locator('.virtual li', { hasText: 'GET /group27/path7777' }).waitFor();
  });

  it('says that another change came first, and applies nothing over it', async () => {
    await signIn(one, page);
    await show('configuration');
    await page.getByText('valid', { exact: true }).waitFor();
    await one.gateway.reload({ ...configuration(), timeout: '3s' });
    await page.getByText('was applied meanwhile').waitFor();
    ok(await page.getByText('Apply', { exact: true }).last().isDisabled());
    await page.getByText('Read the new one').click();
    await page.locator('.cm-content', { hasText: 'timeout' }).waitFor();
  });

  it('says that the gateway does not respond, and continues when it is back', async () => {
    await signIn(one, page);
    const address = one.admin.address!;
    await one.admin.close();
    await page.getByText('connects again by itself').waitFor();
    await page.locator('h1', { hasText: 'Overview' }).waitFor();
    const { gateway, stateDirectory } = one;
    const admin = await startAdmin(gateway, {
      listen: address,
      token: TOKEN,
      stateDirectory,
      dashboard: browser.folder,
      stop() {},
    });
    try {
      // The sessions of the dashboard ended with the admin port.
      await page.getByText('The token is no longer valid.').waitFor();
      await page.fill('input[type=password]', TOKEN);
      await page.click('text=Sign in');
      await page.waitForSelector('nav');
      browser.problems.length = 0;
    } finally {
      await page.goto('about:blank');
      await admin.close();
    }
  });

  it('scrolls to the lines of an endpoint', async () => {
    await signIn(one, page);
    await show('endpoint?id=GET+%2Fbad');
    await page.getByText('Show its configuration').click();
    await page.locator('.cm-activeLine', { hasText: '{' }).waitFor();
    const line = await page.locator('.cm-lineNumbers .cm-activeLineGutter').textContent();
    const text = JSON.stringify(configuration(), null, 2).split('\n');
    ok(text[Number(line)]!.includes('"/bad"'), `line ${line}`);
  });

  it('shows a shadow run with its differences, and ends it', async () => {
    await one.close();
    one = await openAdmin(configuration(), { dashboard: browser.folder, gateway: { program: command } });
    origin = `http://${one.admin.address}`;
    const { endpoints, ...rest } = configuration();
    const denying = endpoints.map((each) => ({ ...each, backend: [{ ...each.backend[0], deny: ['name'] }] }));
    const body = { ...rest, endpoints: denying };
    await one.ask('/v1/config?shadow=1h&sample=100%', { method: 'PUT', body });
    await signIn(one, page);
    await show('history');
    await page.getByText('End the shadow run').waitFor();
    await fetch(`http://127.0.0.1:${one.gateway.processes.port}/good`);
    await page.locator('td', { hasText: 'missing name' }).waitFor();
    await page.getByText('End the shadow run').click();
    await page.getByText('stopped by an operator').waitFor();
    equal(await page.getByText('End the shadow run').count(), 0);
  });

  it('offers no change to a token that may only read', async () => {
    const { hash } = await import('node:crypto');
    const tokens = [{ id: 'reader', sha256: hash('sha256', 'reader-token'), scopes: ['read'] }];
    await one.close();
    const source = { ...configuration(), extra_config: { 'admin/api': { tokens } } };
    one = await openAdmin(source, { dashboard: browser.folder, token: undefined });
    origin = `http://${one.admin.address}`;
    await signIn(one, page, 'reader-token');
    await show('history');
    equal(await page.getByText('Roll back').count(), 0);
    await page.goto(`${origin}/#/configuration`);
    await page.locator('.cm-content').waitFor();
    equal(await page.getByText('Apply', { exact: true }).count(), 0);
    await show('try');
    equal(await page.getByText('Send', { exact: true }).count(), 0);
  });

  it('can be used with the keyboard alone', async () => {
    await signIn(one, page);
    for (let presses = 0; presses < 30; presses++) {
      await page.keyboard.press('Tab');
      if ((await page.evaluate('document.activeElement.textContent')) === 'History') break;
    }
    await page.keyboard.press('Enter');
    await page.locator('h1', { hasText: 'History' }).waitFor();
    await page.waitForSelector('main:focus');
  });
});
