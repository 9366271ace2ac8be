import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { chmodSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { Call, HeaderBag, makeRequest, PipeRequest, Query } from '#contract';
import type { Operations } from '#kernel';
import { plugin } from '../../../plugins/backend/static-filesystem.ts';
import { ask } from '../../kernel/server/ask.ts';
import { type FileTree, makeFileTree } from '../../support/file-tree.ts';
import { json, rememberingSinks, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';
import { openHarness } from '../../support/harness.ts';
import { refusalsOf } from '../../support/modules.ts';

describe('backend/static-filesystem', () => {
  let backend: TestBackend;
  let tree: FileTree;
  let gateway: Operations | undefined;
  let port = 0;
  const sinks = rememberingSinks();

  before(async () => {
    backend = await startBackend(json({ from: 'host' }));
  });
  after(() => backend.close());
  beforeEach(() => {
    tree = makeFileTree({
      'site/index.html': '<h1>home</h1>',
      'site/css/a.css': 'p {}',
      'site/docs/index.html': 'docs',
      'site/list/one.txt': 'one',
      'site/.git/config': 'secret',
      'site/hotels/1.json': '{"name":"Ritz"}',
      'site/hotels/list.json': '[1,2]',
      'site/broken.json': '{"name":',
      'site/big.json': `"${'x'.repeat(10 * 1024 * 1024)}"`,
      'secret/passwd': 'secret',
    });
    sinks.lines.length = 0;
  });
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
    await tree.remove();
  });

  const files = (url_pattern: string, more: object = {}, settings: object = {}) => {
    const { extra_config, ...fields } = more as { extra_config?: object };
    const own = { 'backend/static-filesystem': { path: join(tree.path, 'site'), ...settings } };
    return { url_pattern, extra_config: { ...own, ...extra_config }, ...fields };
  };
  const site = (settings: object = {}, more: object = {}) => ({
    endpoint: '/demo/*',
    output_encoding: 'no-op',
    backend: [files('/', {}, settings)],
    ...more,
  });
  const start = async (endpoints: object[], more: object = {}) => {
    gateway = await startGateway({ endpoints, ...more }, { sinks });
    port = (await gateway.listen()).port;
  };
  const get = (path: string, headers: Record<string, string> = {}) => ask(port, `GET ${path}`, { headers });
  const statusOf = async (path: string) => (await get(path)).status;

  describe('with the no-op encoding', () => {
    it('serves files below the pattern with their content types, without a host', async () => {
      await start([site()]);
      const { headers, text } = await get('/demo/css/a.css?v=1');
      deepEqual([headers['content-type'], text], ['text/css; charset=utf-8', 'p {}']);
      const home = await get('/demo/');
      deepEqual([home.headers['content-type'], home.text], ['text/html; charset=utf-8', '<h1>home</h1>']);
      match(home.headers['etag'] ?? '', /^W\//);
      deepEqual([home.headers['accept-ranges'], home.headers['content-length']], ['bytes', '13']);
    });

    it('responds with 404 without a body for a missing file', async () => {
      await start([site()]);
      const { status, bytes } = await get('/demo/missing.css');
      deepEqual([status, bytes.length], [404, 0]);
    });

    it('serves no files outside its directory and no hidden files', async () => {
      symlinkSync('/etc/passwd', join(tree.path, 'site/link'));
      await start([site()]);
      for (const path of ['%2e%2e/secret/passwd', '..%2fsecret/passwd', '..%5csecret', 'a%00']) {
        const { status, text } = await get(`/demo/${path}`);
        ok(status === 400 || status === 404, `${path}: ${status}`);
        ok(!text.includes('secret'));
      }
      for (const path of ['.git/config', 'link']) equal(await statusOf(`/demo/${path}`), 404);
    });

    it('does not interpret path parameters as parent directories', async () => {
      await start([{ endpoint: '/f/{name}', output_encoding: 'no-op', backend: [files('/hotels/{name}')] }]);
      equal(await statusOf('/f/1.json'), 200);
      for (const name of ['..', '%2e%2e', '..%2f..%2fsecret%2fpasswd', '.hidden'])
        ok((await statusOf(`/f/${name}`)) >= 400);
    });

    it('redirects a directory without a trailing slash to the path that the client requested with a slash', async () => {
      await start([site()]);
      const { status, headers } = await get('/demo/docs?a=1');
      deepEqual([status, headers['location']], [301, '/demo/docs/?a=1']);
      equal((await get('/demo/docs/')).text, 'docs');
    });

    it('serves the directory itself if the path with a trailing slash belongs to another endpoint', async () => {
      await start([{ endpoint: '/page', output_encoding: 'no-op', backend: [files('/docs')] }]);
      deepEqual([await statusOf('/page'), (await get('/page')).text], [200, 'docs']);
    });

    it('lists directories if that is enabled', async () => {
      await start([site()]);
      equal(await statusOf('/demo/list/'), 404);
      await gateway!.close();
      await start([site({ directory_listing: true })]);
      const { text, headers } = await get('/demo/list/');
      match(text, /<a href=".\/one.txt">one.txt<\/a>/);
      equal(headers['content-type'], 'text/html; charset=utf-8');
    });

    it('honors conditional and range headers that the endpoint forwards, and no others', async () => {
      await start([site({}, { input_headers: ['Range', 'If-None-Match'] }), { ...site(), endpoint: '/plain/*' }]);
      const part = await get('/demo/css/a.css', { Range: 'bytes=0-3' });
      deepEqual([part.status, part.text], [206, 'p {}'.slice(0, 4)]);
      const tag = part.headers['etag']!;
      equal((await get('/demo/css/a.css', { 'If-None-Match': tag })).status, 304);
      equal((await get('/demo/css/a.css', { Range: 'bytes=9-' })).status, 416);
      equal((await get('/plain/css/a.css', { Range: 'bytes=0-1', 'If-None-Match': tag })).status, 200);
    });

    it('serves GET and HEAD only', async () => {
      await start([site(), { ...site(), method: 'POST' }]);
      const { status, headers } = await ask(port, 'POST /demo/css/a.css', { body: 'x' });
      deepEqual([status, headers['allow']], [405, 'GET, HEAD']);
      const gate = await openHarness(
        plugin,
        'backend',
        { path: join(tree.path, 'site') },
        { endpoint: { output_encoding: 'no-op' } },
      );
      const request = new PipeRequest(makeRequest({ method: 'HEAD' }), {}, new Query(), new HeaderBag(), null);
      request.target = '/css/a.css';
      const reply = await gate.attached.protocol!.call(request, new Call());
      deepEqual([reply.status, reply.body, reply.headers.get('content-length')], [200, null, '4']);
      await gate.close();
    });

    it('serves the current content of a file', async () => {
      await start([site()]);
      equal((await get('/demo/css/a.css')).text, 'p {}');
      tree.write('site/css/a.css', 'b {}');
      equal((await get('/demo/css/a.css')).text, 'b {}');
      rmSync(join(tree.path, 'site'), { recursive: true });
      equal(await statusOf('/demo/css/a.css'), 404);
    });

    it('responds with 403 and logs the path of a file without read permission', async () => {
      chmodSync(join(tree.path, 'site/css/a.css'), 0);
      await start([site()]);
      const isRoot = process.geteuid?.() === 0;
      if (isRoot) process.seteuid!('nobody');
      try {
        equal(await statusOf('/demo/css/a.css'), 403);
      } finally {
        if (isRoot) process.seteuid!(0);
      }
      ok(sinks.lines.some((line) => line.includes('ERROR') && line.includes(tree.path)));
    });
  });

  describe('with decoded content', () => {
    it('is merged with the responses of other backends', async () => {
      const other = { url_pattern: '/', host: [backend.url] };
      await start([{ endpoint: '/h/{id}', backend: [files('/hotels/{id}.json'), other] }], { disable_rest: true });
      deepEqual(JSON.parse((await get('/h/1')).text), { name: 'Ritz', from: 'host' });
      const missing = await get('/h/2');
      deepEqual([JSON.parse(missing.text), missing.headers['x-gateway-completed']], [{ from: 'host' }, 'false']);
    });

    it('applies response manipulation', async () => {
      const group = { group: 'hotel', allow: ['name'] };
      await start([
        { endpoint: '/h', backend: [files('/hotels/1.json', group)] },
        { endpoint: '/l', backend: [files('/hotels/list.json', { is_collection: true })] },
      ]);
      deepEqual(JSON.parse((await get('/h')).text), { hotel: { name: 'Ritz' } });
      deepEqual(JSON.parse((await get('/l')).text), { collection: [1, 2] });
    });

    it('fails for missing, malformed and hidden files, and for other methods', async () => {
      await start([
        ...['/nothing.json', '/broken.json', '/.git/config'].map((url, at) => ({
          endpoint: `/e${at}`,
          backend: [files(url)],
        })),
        { endpoint: '/p', backend: [files('/hotels/1.json', { method: 'POST' })] },
      ]);
      for (const path of ['/e0', '/e1', '/e2', '/p']) equal(await statusOf(path), 500);
    });

    it('reads files up to 10 MiB', async () => {
      await start([{ endpoint: '/b', backend: [files('/big.json', { encoding: 'string' })] }]);
      equal(await statusOf('/b'), 500);
      ok(sinks.lines.some((line) => line.includes('at most 10485760 are decoded')));
    });

    it('ignores conditional headers of the client', async () => {
      await start([{ endpoint: '/h', input_headers: ['If-None-Match', 'Range'], backend: [files('/hotels/1.json')] }]);
      equal((await get('/h', { 'If-None-Match': '*', Range: 'bytes=0-1' })).text, '{"name":"Ritz"}');
    });

    it('runs the other components of its backend', async () => {
      const limited = { extra_config: { 'qos/ratelimit/proxy': { max_rate: 1, capacity: 1, every: '10m' } } };
      await start([{ endpoint: '/h', backend: [files('/hotels/1.json', limited)] }]);
      deepEqual([await statusOf('/h'), await statusOf('/h')], [200, 500]);
    });
  });

  describe('in its legacy form, inside plugin/http-client', () => {
    const at = '/endpoints/0/backend/0/extra_config/plugin~1http-client';
    const old = (settings: object | undefined, fields: object = {}) => ({
      host: [backend.url],
      endpoints: [
        {
          endpoint: '/demo/*',
          output_encoding: 'no-op',
          backend: [
            {
              url_pattern: '/static/',
              extra_config: { 'plugin/http-client': { name: 'static-filesystem', 'static-filesystem': settings } },
            },
          ],
          ...fields,
        },
      ],
    });

    it('serves paths below its prefix from the directory, and forwards paths that it skips to the host', async () => {
      const settings = { path: join(tree.path, 'site'), prefix: '/static', skip: ['/static/api'] };
      gateway = await startGateway(old(settings));
      port = (await gateway.listen()).port;
      equal((await get('/demo/css/a.css')).text, 'p {}');
      equal(await statusOf('/demo/.git/config'), 404);
      deepEqual(JSON.parse((await get('/demo/api/x')).text), { from: 'host' });
      equal(backend.requests.at(-1)!.target, '/static/api/x');
      equal(gateway.status.warnings[0]?.code, 'CONFIG_OLD_PLUGIN');
    });

    it('forwards paths outside its prefix to the host', async () => {
      gateway = await startGateway(old({ path: join(tree.path, 'site'), prefix: '/other/' }));
      port = (await gateway.listen()).port;
      deepEqual(JSON.parse((await get('/demo/css/a.css')).text), { from: 'host' });
    });

    it('reports its configuration errors at their location', async () => {
      const refused = async (settings: object | undefined) =>
        (await refusalsOf(startGateway(old(settings)))).map(({ code, pointer }) => [code, pointer]);
      deepEqual(await refused({ path: '/nowhere' }), [['STATIC_PATH', `${at}/static-filesystem/path`]]);
      deepEqual(await refused({ path: '/', prefix: 'x' }), [['PLUGIN_SETTINGS', `${at}/static-filesystem/prefix`]]);
      equal((await refused({ path: '/', listing: true }))[0]![0], 'PLUGIN_SETTINGS');
      deepEqual(await refused(undefined), [['PLUGIN_SETTINGS', `${at}/name`]]);
    });
  });

  it('is rejected for a path that is not a directory, and for unknown fields', async () => {
    const at = '/endpoints/0/backend/0/extra_config/backend~1static-filesystem';
    const refused = async (settings: object) =>
      (await refusalsOf(startGateway({ host: [backend.url], endpoints: [site(settings)] }))).map(
        ({ code, pointer }) => [code, pointer],
      );
    deepEqual(await refused({ path: '/nowhere' }), [['STATIC_PATH', `${at}/path`]]);
    deepEqual(await refused({ prefix: '/' }), [['SCHEMA_UNKNOWN_KEY', `${at}/prefix`]]);
    deepEqual(await refused({ '@comment': 'x' }), []);
  });

  it('needs no host, and resolves a symbolic link as its directory for every request', async () => {
    tree.write('v2/index.html', 'two');
    symlinkSync('site', join(tree.path, 'current'));
    await start([site({ path: join(tree.path, 'current') })]);
    equal((await get('/demo/')).text, '<h1>home</h1>');
    rmSync(join(tree.path, 'current'));
    symlinkSync('v2', join(tree.path, 'current'));
    equal((await get('/demo/')).text, 'two');
  });
});
