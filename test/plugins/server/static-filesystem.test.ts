import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, existsSync, renameSync, rmSync, symlinkSync, utimesSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import type { Operations } from '#kernel';
import { installFailures } from '../../../scripts/chaos/failures/install.ts';
import { ask } from '../../kernel/server/ask.ts';
import { until } from '../../support/conditions.ts';
import { type FileTree, makeFileTree, openFilesBelow } from '../../support/file-tree.ts';
import { json, rememberingSinks, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';
import { refusalsOf } from '../../support/modules.ts';

const image = Buffer.from(Array.from({ length: 5000 }, (_none, at) => at % 251));
const script = 'let x = 1;\n'.repeat(20_000);

describe('server/static-filesystem', () => {
  let backend: TestBackend;
  let tree: FileTree;
  let gateway: Operations | undefined;
  let port = 0;
  const sinks = rememberingSinks();

  before(async () => {
    backend = await startBackend(json({ from: 'endpoint' }));
  });
  after(() => backend.close());
  beforeEach(() => {
    tree = makeFileTree({
      'static/a.png': image,
      'static/index.html': '<h1>home</h1>',
      'static/docs/index.html': '<h1>docs</h1>',
      'static/docs/page one.txt': 'a page',
      'static/list/<b>.txt': 'x',
      'static/list/javascript:alert(1)': 'x',
      'static/list/sub/deep.json': '{}',
      'static/list/.hidden': 'x',
      'static/.git/config': 'secret',
      'static/.well-known/security.txt': 'contact',
      'static/app.js': script,
      'static/huge.bin': Buffer.alloc(3_000_000, 'abcdefghij'),
      'static/empty.css': '',
      'static/noextension': 'x',
      'secret/passwd': 'secret',
    });
    sinks.lines.length = 0;
  });
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
    await tree.remove();
  });

  const settings = (fields: object = {}) => ({ prefix: '/media/', path: join(tree.path, 'static'), ...fields });
  const endpoint = (path: string) => ({ endpoint: path, backend: [{ url_pattern: '/' }] });
  const config = (fields: object, more: object = {}, endpoints: object[] = []) => ({
    host: [backend.url],
    endpoints,
    ...more,
    extra_config: {
      'server/static-filesystem': settings(fields),
      ...((more as { extra_config?: object }).extra_config ?? {}),
    },
  });
  const start = async (...given: Parameters<typeof config>) => {
    gateway = await startGateway(config(...given), { sinks });
    port = (await gateway.listen()).port;
  };
  const get = (path: string, headers: Record<string, string> = {}) => ask(port, `GET ${path}`, { headers });
  const statusOf = async (path: string) => (await get(path)).status;

  describe('responses', () => {
    beforeEach(() =>
      start({ skip: ['/media/api'] }, {}, [
        endpoint('/media/nope'),
        endpoint('/media/api/{id}'),
        endpoint('/mediator'),
      ]),
    );

    it('contain the file with its content type, length, modification time and entity tag', async () => {
      const { status, headers, bytes } = await get('/media/a.png');
      deepEqual([status, headers['content-type'], headers['content-length']], [200, 'image/png', '5000']);
      deepEqual(bytes, image);
      match(headers['etag'] ?? '', /^W\/"1388-[0-9a-f]+"$/);
      match(headers['last-modified'] ?? '', / GMT$/);
      equal(headers['accept-ranges'], 'bytes');
    });

    it('contain X-Gateway and nosniff, but no completeness header', async () => {
      const { headers } = await get('/media/a.png');
      match(headers['x-gateway'] as string, /^Version /);
      equal(headers['x-gateway-completed'], undefined);
      equal(headers['x-content-type-options'], 'nosniff');
    });

    it('are 404 for missing files below the prefix, even if an endpoint matches', async () => {
      const { status, text: body, headers } = await get('/media/nope');
      deepEqual([status, body, headers['content-type']], [404, '404 page not found', 'text/plain']);
      equal(headers['x-gateway-completed'], undefined);
    });

    it('come from the endpoints for skipped paths, which are compared by whole segments', async () => {
      deepEqual(JSON.parse((await get('/media/api/x')).text), { from: 'endpoint' });
      equal(await statusOf('/media/apix'), 404);
    });

    it('come from an endpoint with the same path as the prefix', async () => {
      equal(await statusOf('/mediator'), 200);
    });

    it('hide endpoints below the prefix, which a warning names', () => {
      const warnings = gateway!.status.warnings.filter(({ code }) => code === 'STATIC_HIDES');
      deepEqual(
        warnings.map(({ pointer }) => pointer),
        ['/endpoints/0/endpoint'],
      );
      match(warnings[0]!.message, /GET \/media\/nope/);
    });

    it('are logged in the access log with the name of the component', async () => {
      await get('/media/a.png');
      await until(() => sinks.lines.some((line) => line.includes('/media/a.png')));
      match(sinks.lines.find((line) => line.includes('/media/a.png'))!, /server\/static-filesystem/);
    });

    it('have a content type by file extension, with a charset for text', async () => {
      const typeOf = async (path: string) => (await get(`/media/${path}`)).headers['content-type'];
      equal(await typeOf('index.html'), 'text/html; charset=utf-8');
      equal(await typeOf('app.js'), 'text/javascript; charset=utf-8');
      equal(await typeOf('noextension'), 'application/octet-stream');
      equal(await typeOf('empty.css'), 'text/css; charset=utf-8');
    });

    it('are 405 with the allowed methods for other methods', async () => {
      const { status, headers } = await ask(port, 'POST /media/a.png', { body: 'x' });
      deepEqual([status, headers['allow']], [405, 'GET, HEAD']);
    });

    it('have no body for HEAD, and the same headers as for GET', async () => {
      const head = await ask(port, 'HEAD /media/huge.bin');
      const whole = await get('/media/huge.bin');
      deepEqual([head.status, head.bytes.length, head.headers['content-length']], [200, 0, '3000000']);
      const { date: _then, ...headers } = head.headers;
      const { date: _now, ...expected } = whole.headers;
      deepEqual(headers, expected);
    });

    it('contain the current content of the file', async () => {
      tree.write('static/page.txt', 'one');
      equal((await get('/media/page.txt')).text, 'one');
      tree.write('static/page.txt', 'other');
      equal((await get('/media/page.txt')).text, 'other');
      rmSync(join(tree.path, 'static/page.txt'));
      equal(await statusOf('/media/page.txt'), 404);
    });

    it("stream a large file at the client's speed", async () => {
      const { bytes } = await get('/media/huge.bin');
      equal(bytes.length, 3_000_000);
      ok(bytes.equals(Buffer.alloc(3_000_000, 'abcdefghij')));
    });
  });

  describe('a directory', () => {
    it('is served as its index.html', async () => {
      await start({});
      equal((await get('/media/')).text, '<h1>home</h1>');
      equal((await get('/media/docs/')).text, '<h1>docs</h1>');
    });

    it('without a trailing slash is redirected, with the query', async () => {
      await start({});
      const { status, headers } = await get('/media/docs?a=1');
      deepEqual([status, headers['location']], [301, '/media/docs/?a=1']);
    });

    it('never redirects to another host', async () => {
      await start({ prefix: '/' });
      for (const path of ['//docs', '///docs', '/./docs', '//docs/../docs']) {
        const { headers } = await get(path);
        match(headers['location'] ?? '/', /^\/(?!\/)/);
      }
      equal(await statusOf('/\\docs'), 404);
      equal(await statusOf('/%5Cdocs'), 404);
    });

    it('that is the prefix itself is redirected if the prefix has no trailing slash', async () => {
      await start({ prefix: '/media' });
      deepEqual((await get('/media')).headers['location'], '/media/');
      equal((await get('/media/')).text, '<h1>home</h1>');
      equal(await statusOf('/mediator'), 404);
    });

    it('without index.html returns 404', async () => {
      await start({});
      equal(await statusOf('/media/list/'), 404);
    });

    it('is listed if that is enabled, with escaped names', async () => {
      await start({ directory_listing: true });
      const { text: page, headers } = await get('/media/list/');
      equal(headers['content-type'], 'text/html; charset=utf-8');
      match(page, /<a href=".\/sub\/">sub\/<\/a>/);
      match(page, /<a href=".\/%3Cb%3E.txt">&lt;b&gt;.txt<\/a>/);
      match(page, /href=".\/javascript%3Aalert/);
      ok(!page.includes('.hidden'));
    });

    it('is required for a path with a trailing slash or further segments: a file returns 404', async () => {
      await start({});
      equal(await statusOf('/media/a.png/'), 404);
      equal(await statusOf('/media/a.png/x'), 404);
    });
  });

  describe('files that must not be served', () => {
    beforeEach(() => start({ directory_listing: true }));

    for (const path of [
      '/media/../secret/passwd',
      '/media/..%2fsecret/passwd',
      '/media/%2e%2e/secret/passwd',
      '/media/%2e%2e%2fsecret%2fpasswd',
      '/media/docs/../../secret/passwd',
      '/media/..;/secret/passwd',
      '/media/..%5csecret%5cpasswd',
      '/media/%252e%252e/secret/passwd',
      '/media/a.png%00.html',
      '/media/%00',
      '/media/.git/config',
      '/media/%2egit/config',
      '/media/list/.hidden',
      '/media/docs/..',
      `/media/${'x'.repeat(5000)}`,
    ]) {
      it(`include ${path.slice(0, 60)}`, async () => {
        const { status, text: body } = await get(path);
        ok(!body.includes('secret'));
        equal(status, path === '/media/docs/..' ? 200 : 404);
      });
    }

    it('cannot be addressed with malformed escapes, which the router rejects', async () =>
      equal(await statusOf('/media/%zz'), 400));

    it('include targets of symbolic links outside the directory', async () => {
      symlinkSync(join(tree.path, 'secret/passwd'), join(tree.path, 'static/link'));
      symlinkSync(join(tree.path, 'secret'), join(tree.path, 'static/dir'));
      symlinkSync('/etc/passwd', join(tree.path, 'static/index2'));
      symlinkSync('loop', join(tree.path, 'static/loop'));
      for (const path of ['link', 'dir/passwd', 'dir/', 'index2', 'loop']) equal(await statusOf(`/media/${path}`), 404);
    });

    it('include named pipes', async () => {
      const { execFileSync } = await import('node:child_process');
      execFileSync('mkfifo', [join(tree.path, 'static/pipe')]);
      equal(await statusOf('/media/pipe'), 404);
    });
  });

  it('serves symbolic links within the directory, such as those of mounted volumes', async () => {
    tree.write('static/..2026/page.txt', 'mounted');
    symlinkSync('..2026', join(tree.path, 'static/..data'));
    symlinkSync('..data/page.txt', join(tree.path, 'static/page.txt'));
    await start({});
    equal((await get('/media/page.txt')).text, 'mounted');
    equal(await statusOf('/media/..data/page.txt'), 404);
    equal((await get('/media/.well-known/security.txt')).text, 'contact');
  });

  it('follows a symbolic link that is its root again for every request', async () => {
    tree.write('v1/x.txt', 'one');
    tree.write('v2/x.txt', 'two');
    symlinkSync('v1', join(tree.path, 'current'));
    await start({ path: join(tree.path, 'current') });
    equal((await get('/media/x.txt')).text, 'one');
    symlinkSync('v2', join(tree.path, 'next'));
    renameSync(join(tree.path, 'next'), join(tree.path, 'current'));
    equal((await get('/media/x.txt')).text, 'two');
  });

  it('returns 403 and logs the path of a file without read permission', async () => {
    chmodSync(join(tree.path, 'static/a.png'), 0);
    await start({});
    // Acts as another user if the tests run as root, who can read everything.
    const isRoot = process.geteuid?.() === 0;
    if (isRoot) process.seteuid!('nobody');
    try {
      equal(await statusOf('/media/a.png'), 403);
    } finally {
      if (isRoot) process.seteuid!(0);
    }
    ok(sinks.lines.some((line) => line.includes('ERROR') && line.includes(tree.path)));
  });

  it('returns 500 and logs one line if the disk fails', async () => {
    await start({});
    const fault = { operation: 'read', error: 'EIO', match: '^[0-9]+$' } as const;
    const { remove } = await installFailures({ seed: 1, faults: [fault] });
    try {
      const { status, text } = await get('/media/a.png');
      deepEqual([status, text], [500, '500 internal server error']);
    } finally {
      remove();
    }
    const lines = sinks.lines.filter((line) => line.includes('ERROR'));
    equal(lines.length, 1);
    match(lines[0]!, /EIO/);
    ok(!lines[0]!.includes(' at '));
    equal(await statusOf('/media/a.png'), 200);
  });

  it('returns 404 after its directory is deleted', async () => {
    await start({});
    rmSync(join(tree.path, 'static'), { recursive: true });
    equal(await statusOf('/media/a.png'), 404);
  });

  describe('conditional and range requests', () => {
    beforeEach(async () => {
      utimesSync(join(tree.path, 'static/a.png'), 1_700_000_000, 1_700_000_000);
      await start({});
    });

    it('with the entity tag return 304', async () => {
      const tag = (await get('/media/a.png')).headers['etag']!;
      for (const tags of [tag, tag.slice(2), `"other", ${tag}`, '*']) {
        const { status, bytes, headers } = await get('/media/a.png', { 'If-None-Match': tags });
        deepEqual([status, bytes.length, headers['etag'], headers['content-type']], [304, 0, tag, undefined]);
      }
      equal((await get('/media/a.png', { 'If-None-Match': '"other"' })).status, 200);
    });

    it('with the modification time return 304, unless an entity tag is sent', async () => {
      const time = (await get('/media/a.png')).headers['last-modified']!;
      equal((await get('/media/a.png', { 'If-Modified-Since': time })).status, 304);
      equal((await get('/media/a.png', { 'If-Modified-Since': 'Mon, 01 Jan 2001 00:00:00 GMT' })).status, 200);
      equal((await get('/media/a.png', { 'If-Modified-Since': 'nonsense' })).status, 200);
      equal((await get('/media/a.png', { 'If-Modified-Since': time, 'If-None-Match': '"other"' })).status, 200);
    });

    for (const [range, status, content, said] of [
      ['bytes=0-3', 206, image.subarray(0, 4), 'bytes 0-3/5000'],
      ['bytes=-2', 206, image.subarray(4998), 'bytes 4998-4999/5000'],
      ['bytes=4990-', 206, image.subarray(4990), 'bytes 4990-4999/5000'],
      ['bytes=4990-9999', 206, image.subarray(4990), 'bytes 4990-4999/5000'],
      ['bytes=5000-', 416, Buffer.alloc(0), 'bytes */5000'],
      ['bytes=-0', 416, Buffer.alloc(0), 'bytes */5000'],
      ['bytes=3-1', 200, image, undefined],
      ['bytes=0-1,3-4', 200, image, undefined],
      ['items=0-1', 200, image, undefined],
    ] as const) {
      it(`for ${range} return ${status}`, async () => {
        const { status: given, bytes, headers } = await get('/media/a.png', { Range: range });
        deepEqual([given, headers['content-range']], [status, said]);
        deepEqual(bytes, content);
      });
    }

    it('return a part of a large file', async () => {
      const { status, bytes } = await get('/media/huge.bin', { Range: 'bytes=5-200004' });
      deepEqual([status, bytes.length, bytes.subarray(0, 5).toString()], [206, 200_000, 'fghij']);
    });

    it('return a part only if If-Range matches', async () => {
      const { etag, 'last-modified': time } = (await get('/media/a.png')).headers;
      const partOf = async (condition: string) =>
        (await get('/media/a.png', { Range: 'bytes=0-3', 'If-Range': condition })).status;
      deepEqual(
        [await partOf(time!), await partOf('Mon, 01 Jan 2001 00:00:00 GMT'), await partOf(etag!)],
        [206, 200, 200],
      );
    });
  });

  describe('compression', () => {
    it('applies to text of any size and disables ranges', async () => {
      await start({});
      const { headers, bytes } = await get('/media/app.js', { 'Accept-Encoding': 'gzip' });
      deepEqual(
        [headers['content-encoding'], headers['vary'], headers['accept-ranges'], headers['content-length']],
        ['gzip', 'Accept-Encoding', undefined, undefined],
      );
      equal(gunzipSync(bytes).toString(), script);
    });

    it('does not apply to images, ranges and clients that do not accept it', async () => {
      await start({});
      const encodingOf = async (path: string, headers: Record<string, string>) =>
        (await get(path, headers)).headers['content-encoding'];
      equal(await encodingOf('/media/a.png', { 'Accept-Encoding': 'gzip' }), undefined);
      equal(await encodingOf('/media/app.js', { 'Accept-Encoding': 'gzip', Range: 'bytes=0-9999' }), undefined);
      equal(await encodingOf('/media/app.js', {}), undefined);
    });

    it("is disabled if the gateway's compression is disabled", async () => {
      await start({}, { extra_config: { router: { disable_gzip: true } } });
      const { headers, text: body } = await get('/media/app.js', { 'Accept-Encoding': 'gzip' });
      deepEqual([headers['content-encoding'], body], [undefined, script]);
    });
  });

  describe('with the prefix /', () => {
    it('does not serve skipped paths and the health path', async () => {
      await start({ prefix: '/', skip: ['/api'] }, {}, [endpoint('/api/u')]);
      equal((await get('/')).text, '<h1>home</h1>');
      deepEqual(JSON.parse((await get('/api/u')).text), { from: 'endpoint' });
      equal(JSON.parse((await get('/__health')).text).status, 'ok');
      equal(await statusOf('/__debug/'), 404);
    });

    it("returns the router's error body for missing files", async () => {
      await start({ prefix: '/' }, { extra_config: { router: { error_body: { '404': { message: 'nothing' } } } } });
      const { text: body, headers } = await get('/nothing');
      deepEqual(
        [JSON.parse(body), headers['content-type']],
        [{ message: 'nothing' }, 'application/json; charset=utf-8'],
      );
    });

    it('runs inside CORS and security/http', async () => {
      await start(
        {},
        {
          extra_config: {
            'security/cors': { allow_origins: ['https://a.example'] },
            'security/http': { frame_deny: true },
          },
        },
      );
      const { headers } = await get('/media/a.png', { Origin: 'https://a.example' });
      deepEqual([headers['access-control-allow-origin'], headers['x-frame-options']], ['https://a.example', 'DENY']);
    });
  });

  it('serves the new directory after a reload', async () => {
    tree.write('other/a.png', 'new');
    await start({});
    const { etag } = (await get('/media/a.png')).headers;
    await gateway!.reload({ version: 3, ...config({ path: join(tree.path, 'other') }) });
    const { text: body, headers } = await get('/media/a.png', { 'If-None-Match': etag! });
    deepEqual([body, headers['etag'] !== etag], ['new', true]);
  });

  it('finishes a download that began before a reload', async () => {
    await start({});
    const socket = connect(port, '127.0.0.1');
    socket.write('GET /media/huge.bin HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    await once(socket, 'readable');
    await gateway!.reload({ version: 3, ...config({ prefix: '/other/' }) });
    equal((await text(socket)).split('\r\n\r\n')[1]!.length, 3_000_000);
  });

  it('closes the file when the client disconnects', async () => {
    tree.write('static/endless.bin', Buffer.alloc(50_000_000));
    await start({});
    const socket = connect(port, '127.0.0.1');
    socket.write('GET /media/endless.bin HTTP/1.1\r\nHost: a\r\n\r\n');
    await once(socket, 'readable');
    ok(!existsSync('/proc/self/fd') || openFilesBelow(tree.path).length === 1);
    socket.destroy();
    await until(() => openFilesBelow(tree.path).length === 0);
  });

  it('aborts the response if the file is truncated while it is sent', async () => {
    tree.write('static/endless.bin', Buffer.alloc(50_000_000));
    await start({});
    const socket = connect(port, '127.0.0.1');
    socket.write('GET /media/endless.bin HTTP/1.1\r\nHost: a\r\n\r\n');
    await once(socket, 'readable');
    tree.write('static/endless.bin', 'short');
    const sent = await text(socket);
    ok(sent.length < 50_000_000);
    await until(() => sinks.lines.some((line) => line.includes('the file was truncated')));
  });

  describe('in its legacy form, inside plugin/http-server', () => {
    const at = '/extra_config/plugin~1http-server';
    const old = (fields: object, name: unknown = ['static-filesystem'], more: object = {}) => ({
      host: [backend.url],
      endpoints: [endpoint('/api')],
      extra_config: { 'plugin/http-server': { name, 'static-filesystem': settings(fields) }, ...more },
    });

    it('serves the same files, and warns with the equivalent configuration', async () => {
      gateway = await startGateway(old({}));
      port = (await gateway.listen()).port;
      deepEqual((await get('/media/a.png')).bytes, image);
      equal(await statusOf('/api'), 200);
      const [warning] = gateway.status.warnings;
      deepEqual([warning!.code, warning!.pointer], ['CONFIG_OLD_PLUGIN', `${at}/name`]);
      match(warning!.hint ?? '', /"server\/static-filesystem": \{"prefix"/);
    });

    it('reports errors at the location in the original configuration', async () => {
      const [refusal] = await refusalsOf(startGateway(old({ path: '/nowhere' })));
      deepEqual([refusal!.code, refusal!.pointer], ['STATIC_PATH', `${at}/static-filesystem/path`]);
    });

    it('cannot be combined with the component itself', async () => {
      const refusals = await refusalsOf(
        startGateway(old({}, 'static-filesystem', { 'server/static-filesystem': settings() })),
      );
      deepEqual(
        refusals.map(({ code }) => code),
        ['PLUGIN_DUPLICATE'],
      );
    });
  });

  describe('is rejected', () => {
    const refused = async (fields: object) =>
      (await refusalsOf(startGateway(config(fields)))).map(({ code, pointer }) => [code, pointer]);
    const at = '/extra_config/server~1static-filesystem';

    it('for a path that is not a directory', async () => {
      deepEqual(await refused({ path: join(tree.path, 'static/a.png') }), [['STATIC_PATH', `${at}/path`]]);
      deepEqual(await refused({ path: join(tree.path, 'nowhere') }), [['STATIC_PATH', `${at}/path`]]);
    });

    it('for a prefix without a slash, and for unknown fields', async () => {
      equal((await refused({ prefix: 'media' }))[0]![1], `${at}/prefix`);
      equal((await refused({ skip: ['api'] }))[0]![1], `${at}/skip/0`);
      deepEqual(await refused({ listing: true }), [['SCHEMA_UNKNOWN_KEY', `${at}/listing`]]);
      equal((await refused({ prefix: undefined })).length, 1);
    });

    it('for other unknown keys, but not for comments', async () => deepEqual(await refused({ '@comment': 'x' }), []));
  });
});
