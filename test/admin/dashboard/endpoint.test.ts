import { deepEqual, equal, ok } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { until } from '../../support/conditions.ts';
import { json, partsOf, startBackend, type TestBackend } from '../../support/gateway.ts';
import { openAdmin, type TestAdmin, TOKEN } from '../support.ts';
import { missing, openBrowser, signIn, type TestBrowser } from './browser.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Time that the slow backend takes, in milliseconds. */
const SLOW_MS = 60;

(missing ? describe.skip : describe)(`the view of an endpoint in a browser${missing}`, function () {
  this.timeout(120_000);
  let browser: TestBrowser;
  let quick: TestBackend;
  let slow: TestBackend;
  let failing: TestBackend;
  let one: TestAdmin;
  let page: Page;

  const configuration = () => {
    const backend = ({ url }: TestBackend, path: string, components: object = {}) => {
      return { host: [url], url_pattern: path, method: 'POST', extra_config: components };
    };
    const breaker = { 'qos/circuit-breaker': { interval: 60, timeout: 60, max_errors: 1 } };
    return {
      version: 4,
      endpoints: [
        {
          endpoint: '/orders/{id}',
          method: 'POST',
          input_headers: ['*'],
          backend: [backend(quick, '/quick'), { ...backend(slow, '/slow', breaker), group: 'slow' }],
          extra_config: {
            'qos/ratelimit/router': { max_rate: 100 },
            'validation/cel': [{ check_expr: 'req_params.Id != "0"' }],
          },
        },
        { endpoint: '/failing', method: 'POST', backend: [backend(failing, '/', breaker)] },
        { endpoint: '/quiet', backend: [{ ...backend(quick, '/quick'), method: 'GET' }] },
      ],
    };
  };

  before(async () => {
    browser = await openBrowser();
    quick = await startBackend(json({ name: '<img src=x onerror="document.title=1">' }));
    slow = await startBackend((_seen, response) => {
      setTimeout(() => response.setHeader('content-type', 'application/json').end('{"name":"slow"}'), SLOW_MS);
    });
    failing = await startBackend(json({}, 500));
  });
  beforeEach(async () => {
    browser.problems.length = 0;
    one = await openAdmin(configuration(), { dashboard: browser.folder });
    page = await browser.open();
  });
  afterEach(async () => {
    await page.context().close();
    await one.close();
    deepEqual(browser.problems, [], 'errors in the console of the browser');
  });
  after(async () => {
    await browser?.close();
    await Promise.all([quick?.close(), slow?.close(), failing?.close()]);
  });

  /** Opens the view of an endpoint, and waits until the gateway observes it. */
  async function show(id: string, target = page, token = TOKEN): Promise<void> {
    await signIn(one, target, token);
    await target.goto(`http://${one.admin.address}/#/endpoint?id=${encodeURIComponent(id)}`);
    await target.locator('h1', { hasText: id }).waitFor();
    await until(() => isObserved(id));
  }

  const isObserved = (id: string): boolean =>
    partsOf(one.gateway).generations.current.runtime.compiled.published.some(
      ({ endpoint, traffic }) => `${endpoint.method} ${endpoint.endpoint}` === id && traffic.observer !== null,
    );

  async function post(path: string, times = 1): Promise<void> {
    for (let sent = 0; sent < times; sent++) {
      await one.gateway.inject({
        method: 'POST',
        url: path,
        headers: {
          authorization: 'Bearer planted-token',
          'x-api-key': 'planted-key',
          'content-type': 'application/json',
          'x-note': '<img src=x onerror="document.title=1">',
        },
        payload: JSON.stringify({ user: 'ann', password: 'planted-password' }),
      });
    }
  }

  it('shows the pipe in run order, and which stage is slow', async () => {
    await show('POST /orders/{id}');
    await page.getByText('Requests pass qos/ratelimit/router').waitFor();
    await page.locator('pre.tall', { hasText: '"endpoint": "/orders/{id}"' }).waitFor();
    await post('/orders/1', 3);
    const row = page.locator('.pipe tr', { hasText: 'of the time' });
    await row.waitFor();
    const names = await page.locator('.pipe tbody th a').allTextContents();
    deepEqual(names, [
      'qos/ratelimit/router',
      'validation/cel',
      'Backend 1: POST /quick',
      'backend/http/client',
      'Backend 2: POST /slow',
      'qos/circuit-breaker',
      'backend/http/client',
    ]);
    equal(await row.count(), 1);
    const slowest = page.locator('.pipe tbody tr').nth(6);
    ok((await slowest.textContent())!.includes('slowest'));
    ok(Number.parseFloat((await slowest.locator('.number').first().textContent())!) >= SLOW_MS - 5);
    await page.getByText('times at most 20 requests a second').waitFor();
    await page.locator('.pipe a', { hasText: 'qos/circuit-breaker' }).click();
    await page.locator('.cm-activeLine', { hasText: '"qos/circuit-breaker"' }).waitFor();
  });

  it('shows live requests as text, without credentials', async () => {
    await show('POST /orders/{id}');
    await post('/orders/1?token=planted-query');
    const live = page.getByLabel('Live requests');
    await live.getByText('/orders/1?token=***').click();
    await page.locator('.card pre', { hasText: 'x-note: <img src=x' }).waitFor();
    await page.locator('.card pre', { hasText: '"user": "ann"' }).waitFor();
    await page.locator('.card pre', { hasText: '"name": "<img src=x' }).waitFor();
    const text = (await page.content()) + (await page.locator('body').textContent());
    ok(!text.includes('planted'), 'no credential is in the page');
    await page.getByText('Slowest recent requests').waitFor();
    await page.getByText('Close', { exact: true }).click();
    equal(await page.locator('.card pre').count(), 0);
  });

  it('shows the states of limits and breakers, and why a backend is not called', async () => {
    await show('POST /failing');
    await page.getByText('consecutive').waitFor();
    await post('/failing', 3);
    await page.locator('.badge.bad', { hasText: 'open' }).waitFor();
    await page.getByText('The backend is not called, because it kept failing.').waitFor();
    await page.getByText('next trial in').waitFor();
    await page.locator('.figure.bad', { hasText: 'Errors since the start' }).waitFor();
  });

  it('says how to send the first request', async () => {
    await show('GET /quiet');
    const { port } = one.gateway.processes;
    await page.getByText(`curl -i http://127.0.0.1:${port}/quiet`).waitFor();
  });

  it('is observed only while it is open', async () => {
    await show('POST /orders/{id}');
    await page.goto(`http://${one.admin.address}/#/topology`);
    await until(() => !isObserved('POST /orders/{id}'));
    await show('GET /quiet');
    await page.goto('about:blank');
    await until(() => !isObserved('GET /quiet'));
  });

  it('omits headers and bodies for a token that may only read', async () => {
    const { hash } = await import('node:crypto');
    const tokens = [{ id: 'reader', sha256: hash('sha256', 'reader-token'), scopes: ['read'] }];
    await one.close();
    const source = { ...configuration(), extra_config: { 'admin/api': { tokens } } };
    one = await openAdmin(source, { dashboard: browser.folder, token: undefined });
    await show('POST /orders/{id}', page, 'reader-token');
    await post('/orders/1');
    await page.getByLabel('Live requests').getByText('/orders/1').click();
    await page.getByText('Headers and bodies require a token with the scope secrets.').waitFor();
    equal(await page.locator('.card pre').count(), 0);
  });

  it('can be paused, and used with the keyboard alone', async () => {
    await show('POST /orders/{id}');
    await post('/orders/1');
    await page.getByText('Pause', { exact: true }).focus();
    await page.keyboard.press('Enter');
    await post('/orders/2');
    await page.locator('.requests').getByText('/orders/2').waitFor();
    equal(await page.getByLabel('Live requests').getByText('/orders/2').count(), 0);
    await page.getByLabel('Live requests').getByText('/orders/1').focus();
    await page.keyboard.press('Tab');
    await page.getByLabel('Live requests').locator('button').first().focus();
    await page.keyboard.press('Enter');
    await page.locator('h2:focus', { hasText: 'POST /orders/1' }).waitFor();
  });

  it('has no serious accessibility problems, in both themes and on a narrow screen', async () => {
    for (const options of [{}, { colorScheme: 'dark' as const }, { width: 360 }]) {
      const target = await browser.open(options);
      await show('POST /orders/{id}', target);
      await post('/orders/1?a=very-long-value-that-does-not-fit-on-a-narrow-screen-of-any-telephone', 2);
      await target.getByLabel('Live requests').locator('button').first().click();
      await target.locator('.card pre').first().waitFor();
      await target.evaluate(axe);
      const found = (await target.evaluate(
        'axe.run({ resultTypes: ["violations"], preload: false }).then(({ violations }) => violations)',
      )) as { id: string; impact: string; nodes: { html: string }[] }[];
      const serious = found.filter(({ impact }) => impact === 'serious' || impact === 'critical');
      deepEqual(
        serious.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)}`),
        [],
        JSON.stringify(options),
      );
      const overflow = await target.evaluate('document.documentElement.scrollWidth - innerWidth');
      ok(Number(overflow) <= 0, `wider than the screen: ${JSON.stringify(options)}`);
      await target.context().close();
    }
  });
});
