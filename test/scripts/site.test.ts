import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runInNewContext } from 'node:vm';
import MiniSearch from 'minisearch';
import { type Browser, chromium, type Page } from 'playwright-core';
import { toolServices } from '../../kernel/cli/tools.ts';
import { Registry } from '../../kernel/registry/registry.ts';
import { catalogue } from '../../plugins/index.ts';
import { errorAreas } from '../../scripts/docs/errors/index.ts';
import { makePages } from '../../scripts/docs/pages.ts';
import { buildSite } from '../../scripts/site/build.ts';
import { isInstalled } from '../support/debian.ts';

const executablePath = '/usr/bin/chromium';
const missing = isInstalled('chromium') ? '' : ': apt-get install chromium';
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

describe('the documentation site', function () {
  this.timeout(120_000);
  const site = mkdtempSync(join(tmpdir(), 'sluice-site-'));
  let reference: Map<string, string>;
  let browser: Browser | undefined;
  let files: string[];
  const read = (path: string) => readFileSync(join(site, path), 'utf8');

  before(async () => {
    const registry = new Registry(catalogue, toolServices());
    reference = await makePages(registry);
    await registry.close();
    buildSite(site, reference, { version: '1.2.3', versions: [{ name: '1.1', url: 'https://docs.example.com/1.1/' }] });
    files = globSync('**/*', { cwd: site });
    if (missing) return;
    browser = await chromium.launch({
      executablePath,
      args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
    });
  });
  after(async () => {
    await browser?.close();
    rmSync(site, { recursive: true });
  });

  const htmlFiles = () => files.filter((path) => path.endsWith('.html'));

  it('has a page for each reference page and each guide, as HTML and as Markdown', () => {
    const guides = globSync('samples/*/*.md').map((path) =>
      path.replace(/^samples/, 'guides').replace(/(?:\/README)?\.md$/, ''),
    );
    const names = [...[...reference.keys()].map((path) => `reference/${path.replace(/\.md$/, '')}`), ...guides];
    ok(names.length > 140);
    for (const name of [...names, 'index', 'project/changelog', 'project/contributing']) {
      ok(files.includes(`${name}.html`), name);
      ok(files.includes(`${name}.md`), name);
    }
  });

  it('has no dead links or anchors, in HTML and in Markdown', () => {
    const anchors = new Map(htmlFiles().map((path) => [path, idsOf(read(path))]));
    const dead: string[] = [];
    for (const path of htmlFiles()) {
      for (const [, target = ''] of read(path).matchAll(/ (?:href|src)="([^"]*)"/g)) {
        if (/^[a-z]+:/.test(target)) continue;
        const [to = '', fragment] = target.split('#');
        const file = to === '' ? path : normalize(join(dirname(path), to));
        if (!existsSync(join(site, file))) dead.push(`${path} → ${target}`);
        else if (fragment !== undefined && anchors.get(file)?.has(fragment) === false) dead.push(`${path} → ${target}`);
      }
    }
    for (const path of files.filter((each) => each.endsWith('.md'))) {
      for (const [, target = ''] of read(path)
        .replace(/^```.*?^```/gms, '')
        .matchAll(/\]\(([^)#\s]+)[^)]*\)/g)) {
        if (/^[a-z]+:/.test(target) || path.startsWith('files/')) continue;
        if (!existsSync(join(site, dirname(path), target))) dead.push(`${path} → ${target}`);
      }
    }
    deepEqual(dead, []);
  });

  it('loads nothing from other servers', () => {
    for (const path of htmlFiles()) ok(!/<(?:script|link|img)[^>]* (?:src|href)="https?:/.test(read(path)), path);
  });

  it('links each page to the previous and the next one', () => {
    let path = 'index.html';
    const seen = new Set<string>();
    while (true) {
      seen.add(path);
      const next = / rel="next" href="([^"]*)"/.exec(read(path))?.[1];
      if (next === undefined) break;
      const following = normalize(join(dirname(path), next));
      const back = / rel="prev" href="([^"]*)"/.exec(read(following))![1]!;
      equal(normalize(join(dirname(following), back)), path);
      path = following;
    }
    equal(seen.size, htmlFiles().length);
  });

  it('names the source of each page, and links to it if the repository is known', () => {
    match(read('guides/tokens.html'), /Edit this page: <code>samples\/tokens\/README\.md<\/code>/);
    const other = mkdtempSync(join(tmpdir(), 'sluice-site-'));
    try {
      buildSite(other, reference, {
        version: '1.2.3',
        versions: [],
        repository: 'https://git.example.com/team/sluice',
      });
      const page = readFileSync(join(other, 'guides/tokens.html'), 'utf8');
      match(page, /href="https:\/\/git\.example\.com\/team\/sluice\/edit\/main\/samples\/tokens\/README\.md"/);
      const html = globSync('**/*.html', { cwd: other }).map((path) => readFileSync(join(other, path), 'utf8'));
      const targets = html.flatMap((text) =>
        Array.from(text.matchAll(/sluice\/(?:blob|tree)\/main\/([^"#]+)/g), ([, target]) => target!),
      );
      ok(targets.length > 0);
      for (const target of targets) ok(existsSync(target), target);
    } finally {
      rmSync(other, { recursive: true });
    }
  });

  it('has llms.txt and llms-full.txt for language models', () => {
    const index = read('llms.txt');
    match(index, /^# Sluice\n\n> /);
    const pages = [...index.matchAll(/\]\(([^)]+\.md)\)/g)].map(([, path]) => path!);
    equal(pages.length, htmlFiles().length);
    for (const path of pages) ok(files.includes(path), path);
    const whole = read('llms-full.txt');
    for (const title of ['# auth/validator', '# Error codes', '# Changelog']) ok(whole.includes(`${title}\n`), title);
  });

  describe('search', () => {
    let found: (query: string) => readonly { readonly url: string; readonly names: string }[];
    before(() => {
      const context: Record<string, unknown> = {};
      runInNewContext(read('search.js'), context);
      const { options, index } = context['sluiceSearch'] as { options: object; index: string };
      const engine = MiniSearch.loadJSON(index, {
        ...(options as { fields: string[] }),
        searchOptions: searchOptions(),
      });
      found = (query) => engine.search(query) as never;
    });

    /** The options that the script of the site uses. */
    const searchOptions = () => {
      const tokenize = (text: string) => text.split(/[^\p{L}\p{N}_]+/u).filter((word) => word !== '');
      return { tokenize, combineWith: 'AND', prefix: true, boost: { names: 6, title: 4, page: 2 } } as const;
    };

    it('returns the page of each error code first', () => {
      for (const code of Object.values(errorAreas).flatMap((codes) => Object.keys(codes))) {
        equal(found(code)[0]?.url, `reference/errors.html#${code.toLowerCase()}`, code);
      }
    });

    it('returns the page that describes each field', () => {
      let count = 0;
      for (const [path, text] of reference) {
        const fields = text.split('\n## Fields\n')[1]?.split('\n## ')[0] ?? '';
        for (const [, name] of fields.matchAll(/^\| `([\w-]+)` \|/gm)) {
          count += 1;
          const page = `reference/${path.replace(/\.md$/, '')}.html`;
          ok(
            found(name!).some(({ url }) => url.split('#')[0] === page),
            `${page}: ${name}`,
          );
        }
      }
      ok(count > 900, String(count));
    });
  });

  (missing ? describe.skip : describe)(`in a browser${missing}`, () => {
    /** Opens a page of the site, and fails for any message on its console. */
    async function open(
      path: string,
      colorScheme: 'light' | 'dark',
      width: number,
      use: (page: Page) => Promise<void>,
    ) {
      const context = await browser!.newContext({ colorScheme, viewport: { width, height: 900 } });
      try {
        const page = await context.newPage();
        const errors: string[] = [];
        page.on('pageerror', (error) => errors.push(error.message));
        page.on('console', (message) => {
          if (message.type() === 'error' || message.type() === 'warning') errors.push(message.text());
        });
        await page.goto(pathToFileURL(join(site, path)).href);
        await use(page);
        deepEqual(errors, [], path);
      } finally {
        await context.close();
      }
    }

    for (const [path, colors] of [
      ['index.html', 'light'],
      ['guides/tokens.html', 'dark'],
      ['reference/auth/validator.html', 'light'],
      ['reference/metrics.html', 'dark'],
      ['project/contributing.html', 'dark'],
    ] as const) {
      it(`has no serious accessibility issue on ${path} in ${colors} mode, and fits a width of 390 pixels`, () =>
        open(path, colors, 390, async (page) => {
          equal(await page.evaluate('document.documentElement.scrollWidth'), 390);
          await page.setViewportSize({ width: 1280, height: 900 });
          equal(await page.evaluate('document.documentElement.scrollWidth <= 1280'), true);
          await page.evaluate(axe);
          const found = await page.evaluate<{ id: string; impact: string; nodes: { html: string }[] }[]>(
            'axe.run({ resultTypes: ["violations"], preload: false }).then(({ violations }) => violations)',
          );
          deepEqual(
            found
              .filter(({ impact }) => impact === 'serious' || impact === 'critical')
              .map(({ id, nodes }) => [id, nodes[0]!.html]),
            [],
          );
        }));
    }

    it('draws every picture', async () => {
      const pages = htmlFiles().filter((path) => /<img|data-language="mermaid/.test(read(path)));
      ok(pages.includes('index.html') && pages.includes('project/contributing.html'));
      for (const path of pages) {
        await open(path, 'light', 1280, async (page) => {
          const undrawn = '[...document.images].filter((image) => image.naturalWidth === 0).map((image) => image.src)';
          deepEqual(await page.evaluate(undrawn), [], path);
          equal(await page.locator('[data-language=mermaid]').count(), 0, `${path} has a diagram that is not drawn`);
        });
      }
    });

    it('has a search that opens the first result', () =>
      open('guides/tokens.html', 'light', 1280, async (page) => {
        await page.keyboard.press('/');
        await page.locator('#search').fill('CEL_SYNTAX');
        await page.locator('#results a').first().waitFor();
        await page.keyboard.press('Enter');
        await page.waitForURL(/reference\/errors\.html#cel_syntax$/);
      }));

    it('switches between light and dark, and remembers the choice', () =>
      open('index.html', 'light', 1280, async (page) => {
        const background = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
        const light = await background();
        await page.locator('#theme').click();
        const dark = await background();
        ok(dark !== light);
        await page.reload();
        equal(await background(), dark);
      }));

    it('has a menu button on small screens', () =>
      open('index.html', 'light', 390, async (page) => {
        equal(await page.locator('#navigation').isVisible(), false);
        await page.locator('#menu').click();
        equal(await page.locator('#navigation').isVisible(), true);
      }));

    it('copies an example to the clipboard', () =>
      open('reference/auth/validator.html', 'light', 1280, async (page) => {
        await page.evaluate('navigator.clipboard.writeText = async (text) => { globalThis.copied = text; }');
        await page.locator('.code button').first().click();
        match(await page.evaluate<string>('globalThis.copied'), /"auth\/validator": \{/);
      }));

    it('lists other versions of the site', () =>
      open('index.html', 'light', 1280, async (page) => {
        deepEqual(await page.locator('#version option').allTextContents(), ['1.2.3', '1.1']);
      }));
  });
});

function idsOf(html: string): Set<string> {
  return new Set(Array.from(html.matchAll(/ id="([^"]*)"/g), ([, id]) => id!));
}
