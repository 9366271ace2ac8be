// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of a configuration
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, chromium, type Page } from 'playwright-core';
import type { Operations } from '#kernel';
import { createUpstream } from '../../samples/quickstart/upstream.ts';
import { freePort } from '../support/conditions.ts';
import { isInstalled } from '../support/debian.ts';
import { startGateway } from '../support/gateway.ts';
import { checkFilled } from './filled-check.ts';
import { followGuide } from './guide.ts';

const secrets = { CLIENT_SECRET: 'secret-of-the-gateway', SESSION_SECRET: '0123456789abcdef0123456789abcdef' };

describe('the sample "login"', function () {
  this.timeout(60_000);

  it('passes check without warnings', async () => {
    const { code, err } = await checkFilled('samples/login/login.json', secrets);
    deepEqual([code, err], [0, '']);
  });

  it('has a guide whose commands print the output that it shows', () => followGuide('login'));
});

/** Scripts for a page, which follow a link and submit a form. */
const follow = (url: string) =>
  `document.body.append(Object.assign(document.createElement('a'), { href: '${url}' })); document.links[0].click()`;
const submit = (url: string) =>
  `document.body.append(Object.assign(document.createElement('form'), { method: 'post', action: '${url}' })); document.forms[0].submit()`;

const missing = isInstalled('chromium') ? '' : ': apt-get install chromium';

(missing ? describe.skip : describe)(`a browser that logs in with the sample "login"${missing}`, function () {
  this.timeout(120_000);
  let provider: ChildProcess;
  let upstream: Server;
  let gateway: Operations;
  let browser: Browser;
  let origins: Record<string, string>;

  before(async () => {
    const [gatewayPort, providerPort] = [await freePort(), await freePort()];
    origins = {
      [`http://localhost:${gatewayPort}`]: 'http://localhost:8080',
      [`http://localhost:${providerPort}`]: 'http://localhost:9000',
    };
    const [base, issuer] = Object.keys(origins) as [string, string];
    provider = spawn(process.execPath, ['samples/login/provider.ts', issuer, base], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    await once(provider.stdout!, 'data');
    upstream = createUpstream().listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    const text = readFileSync('samples/login/login.json', 'utf8')
      .replaceAll('127.0.0.1:8081', `127.0.0.1:${(upstream.address() as AddressInfo).port}`)
      .replaceAll('http://localhost:8080', base)
      .replaceAll('http://localhost:9000', issuer)
      .replace('${CLIENT_SECRET}', secrets.CLIENT_SECRET)
      .replace('${SESSION_SECRET}', secrets.SESSION_SECRET);
    gateway = await startGateway({ ...JSON.parse(text), port: gatewayPort }, { port: gatewayPort });
    await gateway.listen();
    browser = await chromium.launch({
      executablePath: '/usr/bin/chromium',
      args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
    });
  });
  after(async () => {
    await browser.close();
    await gateway.close();
    upstream.closeAllConnections();
    upstream.close();
    const ended = once(provider, 'exit');
    provider.kill();
    await ended;
  });

  const base = () => Object.keys(origins)[0]!;
  /** Opens a page in a browser profile of its own. Its documents are recorded with the addresses of the guide. */
  const open = async (): Promise<{ page: Page; lines: string[] }> => {
    const context = await browser.newContext();
    // Blocks requests to other hosts, because the provider's pages load a font from one.
    await context.route(/^https:/, (route) => route.abort());
    const page = await context.newPage();
    const lines: string[] = [];
    page.on('response', (response) => {
      const request = response.request();
      if (request.resourceType() !== 'document') return;
      const origin = Object.keys(origins).find((one) => request.url().startsWith(one))!;
      lines.push(`${request.method()} ${request.url().replace(origin, origins[origin]!)} ${response.status()}`);
    });
    return { page, lines };
  };
  const logIn = async (page: Page, user: string, path = '/profile') => {
    await page.goto(base() + path);
    await page.fill('input[name=login]', user);
    await page.fill('input[name=password]', 'any');
    await page.click('button[type=submit]');
    await page.click('button[type=submit]:has-text("Continue")');
    await page.waitForURL(base() + path);
  };

  it('sends the requests that the guide shows', async () => {
    const { page, lines } = await open();
    await logIn(page, 'ada');
    lines.push(await page.innerText('body'));
    const guide = readFileSync('samples/login/README.md', 'utf8');
    const [, transcript] = /```text\n(GET [\s\S]*?)```/.exec(guide)!;
    const expected = transcript!.trim().split('\n');
    equal(lines.length, expected.length, lines.join('\n'));
    for (const [at, line] of expected.entries()) {
      const pattern = line.split('…').map((text) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
      match(lines[at]!, new RegExp(`^${pattern.join('.*')}$`));
    }
    const cookies = (await page.context().cookies(base())).filter(({ name }) => name.startsWith('__Host-'));
    deepEqual(
      cookies.map(({ name, secure, httpOnly, sameSite, path }) => ({ name, secure, httpOnly, sameSite, path })),
      [{ name: '__Host-oidc.staff.0', secure: true, httpOnly: true, sameSite: 'Lax', path: '/' }],
    );
    equal(await page.evaluate('document.cookie'), '');
  });

  it('opens another tab without a new login, and opens pages of a role only for users with that role', async () => {
    const { page } = await open();
    await logIn(page, 'bob');
    const tab = await page.context().newPage();
    const profile = await tab.goto(`${base()}/profile`);
    equal((await profile!.json()).headers['x-user'], 'bob');
    // The browser shows an error page of its own, because the response has no body.
    const [refused] = await Promise.all([
      tab.waitForResponse(`${base()}/admin`),
      tab.goto(`${base()}/admin`).catch(() => {}),
    ]);
    equal(refused.status(), 403);
  });

  it('completes logins that were started in two tabs', async () => {
    const { page } = await open();
    const tab = await page.context().newPage();
    await tab.goto(`${base()}/profile`);
    await logIn(page, 'ada', '/admin');
    await tab.fill('input[name=login]', 'ada');
    await tab.fill('input[name=password]', 'any');
    await tab.click('button[type=submit]');
    await tab.waitForURL((url) => url.href === `${base()}/profile` || url.pathname.startsWith('/interaction'));
    const consent = tab.locator('button[type=submit]:has-text("Continue")');
    if (!tab.url().startsWith(base())) await consent.click();
    await tab.waitForURL(`${base()}/profile`);
  });

  it('rejects requests of scripts with 401 once the user has logged out, at the gateway and at the provider', async () => {
    const { page, lines } = await open();
    await logIn(page, 'ada');
    const status = () => page.evaluate(() => fetch('/profile').then((response) => response.status));
    equal(await status(), 200);
    await page.evaluate(follow('/oidc/staff/logout'));
    await page.click('button:has-text("Yes, sign me out")');
    await page.waitForURL(`${base()}/goodbye`);
    equal(await status(), 401);
    ok(lines.some((line) => line.startsWith('GET http://localhost:8080/oidc/staff/logout 303')));
    await page.goto(`${base()}/profile`);
    await page.waitForSelector('input[name=login]');
  });

  it('stays logged in when another site requests the logout', async () => {
    const { page } = await open();
    await logIn(page, 'ada');
    const evil = await page.context().newPage();
    // Opens a page of another site: for browsers, 127.0.0.1 is another site than localhost.
    await evil.goto(base().replace('localhost', '127.0.0.1'));
    await evil.evaluate(submit(`${base()}/oidc/staff/logout`));
    await evil.waitForURL(/logout/);
    equal((await page.goto(`${base()}/profile`))!.status(), 200);
    await evil.goto(base().replace('localhost', '127.0.0.1'));
    await evil.evaluate(follow(`${base()}/oidc/staff/logout`));
    await evil.waitForURL(/logout/);
    equal((await page.goto(`${base()}/profile`))!.status(), 200);
  });
});
