import { deepEqual, doesNotMatch, equal, match } from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import type { GroupedChange } from '../../../../kernel/cases/index.ts';
import { replayPage } from '../../../../kernel/cli/cases/replay-page.ts';
import { isInstalled } from '../../../support/debian.ts';
import { createFolder, type Folder, sluice } from '../command.ts';

const missing = isInstalled('chromium') ? '' : ': apt-get install chromium';
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const hostile = [
  '<script>window.broken = 1</script>',
  '"><img src=x onerror="window.broken = 2">',
  "' onmouseover='window.broken = 3",
  '</code></style></title><svg onload="window.broken = 4">',
  '<!--',
  ']]>&#x3c;b&#x3e;',
  '\u202egnp.exe\u202c\u200b\ufeff',
  '\u0000\u001b[2J\ud800',
  'javascript:window.broken = 5',
  '__proto__',
];

const change = (text: string, index: number): GroupedChange => ({
  endpoint: `GET /${index % 3 === 0 ? text : 'users'}`,
  cause: index % 2 === 0 ? 'visible' : 'status',
  at: text,
  requests: 2,
  shown: `${text} → ${text}`,
  example: `GET /${text}`,
  key: text,
  settings: [{ pointer: '/a', op: 'replace', file: `${text}.json`, line: 3, column: 4, text: `allow: ${text}` }],
});

const report = (changes: readonly GroupedChange[]) => ({
  file: hostile[0]!,
  ...{ changes, hidden: 3, accepted: [], requests: 20, incomplete: 1, unfaithful: 2, ms: 12 },
});

describe('the HTML page of a replay', function () {
  this.timeout(60_000);
  let folder: Folder;
  before(() => {
    folder = createFolder();
  });
  after(() => folder.remove());

  it('contains texts of clients and backends without markup', () => {
    const page = replayPage(report(hostile.map(change)));
    equal(page.match(/<(?:script|img|svg)/g), null);
    equal(page.match(/<style>/g)!.length, 1);
    equal(page.match(/<!--/g), null);
    doesNotMatch(page, /[\u0000\u001b\u202a-\u202e]/);
    match(page, /\ufffdgnp\.exe\ufffd/);
    equal(page.isWellFormed(), true);
  });

  it('is grouped by endpoint and cause, with the changed settings and their lines', () => {
    const page = replayPage(report([change('email', 1), change('name', 2), change('city', 4)]));
    deepEqual(
      [...page.matchAll(/<h([23])[^>]*>(?:<code[^>]*>)?([^<]*)/g)].map(([, level, name]) => `${level} ${name}`),
      ['2 GET /users', '3 status changed', '3 field became visible'],
    );
    match(page, /<code dir="auto">allow: email<\/code> <span class="muted">email\.json:3:4<\/span>/);
  });

  it('is written with the result, for the user only', async () => {
    const entry = (link: object, url: string, body: string) => ({
      request: { method: 'GET', url, headers: [] },
      response: {
        status: 200,
        headers: [{ name: 'Content-Type', value: 'application/json' }],
        content: { text: body },
      },
      _sluice: link,
    });
    const link = { id: '1', endpoint: 'GET /a' };
    const entries = [
      entry(link, 'http://api.test/a', '{"id":1}'),
      entry({ ...link, backend: 0 }, 'http://b:1/', '{"id":1,"<b>":"</code><script>"}'),
    ];
    const config = (name: string, allow: string[]) =>
      folder.write(name, {
        version: 3,
        endpoints: [{ endpoint: '/a', backend: [{ host: ['http://b:1'], url_pattern: '/', allow }] }],
      });
    const recording = folder.write('traffic.har', { log: { entries } });
    const page = folder.path('page.html');
    const files = [recording, '-c', config('next.json', ['id', '<b>']), '--baseline', config('old.json', ['id'])];
    equal((await sluice('replay', ...files, '--html', page)).code, 1);
    const text = readFileSync(page, 'utf8');
    match(text, /&lt;b&gt;/);
    doesNotMatch(text, /<script|<b>/);
    equal(statSync(page).mode & 0o777, 0o600);
    const unwritten = await sluice('replay', ...files, '--html', folder.path('absent/page.html'));
    equal(unwritten.code, 1);
    match(unwritten.err, /page\.html/);
  });

  describe(`in a browser${missing}`, () => {
    let browser: Browser;
    let page: Page;
    before(async function () {
      if (missing) this.skip();
      browser = await chromium.launch({
        executablePath: '/usr/bin/chromium',
        args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
      });
    });
    after(() => browser?.close());

    for (const colorScheme of ['light', 'dark'] as const) {
      it(`runs no scripts, loads nothing and has no accessibility violations in the ${colorScheme} scheme`, async () => {
        const html = folder.path('hostile.html');
        writeFileSync(html, replayPage(report(hostile.map(change))));
        page = await browser.newPage({ colorScheme });
        const requests: string[] = [];
        page.on('request', (request) => requests.push(request.url()));
        await page.goto(pathToFileURL(html).href);
        deepEqual(requests, [pathToFileURL(html).href]);
        equal(await page.evaluate('window.broken'), undefined);
        await page.evaluate(axe);
        const { violations } = await page.evaluate<{ violations: { id: string }[] }>('axe.run()');
        deepEqual(
          violations.map(({ id }) => id),
          [],
        );
        // The content security policy also blocks scripts that are inserted later.
        await page.evaluate(
          `document.body.insertAdjacentHTML('beforeend', '<img src="data:," onerror="window.broken = 6">')`,
        );
        equal(await page.evaluate('window.broken'), undefined);
        const background = await page.evaluate('getComputedStyle(document.body).backgroundColor');
        equal(background, colorScheme === 'dark' ? 'rgb(21, 24, 27)' : 'rgb(255, 255, 255)');
        await page.close();
      });
    }
  });
});
