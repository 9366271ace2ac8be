import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { Gateway } from '../../../kernel/index.ts';
import { createFolder, type Folder } from '../../kernel/cli/command.ts';
import { json, rememberingSinks, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';

describe('Lua scripts in a gateway', () => {
  let backend: TestBackend;
  let gateway: Gateway;
  let folder: Folder;
  let sinks: ReturnType<typeof rememberingSinks>;

  before(async () => {
    folder = createFolder();
    backend = await startBackend((seen, response) => {
      if (seen.target.startsWith('/hang')) return;
      if (seen.target.startsWith('/zipped')) {
        response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(gzipSync('unzipped'));
        return;
      }
      if (seen.target.startsWith('/down')) response.writeHead(503, { 'X-Kind': 'down' }).end('gone');
      else json({ list: [1, 2], name: 'Ada', big: JSON.rawJSON('9007199254740993') })(seen, response);
    });
  });
  after(async () => {
    await backend.close();
    folder.remove();
  });
  afterEach(() => gateway.close());

  const start = async (endpoints: object | object[], root: object = {}) => {
    sinks = rememberingSinks();
    gateway = await startGateway({ host: [backend.url], endpoints: [endpoints].flat(), ...root }, { sinks });
  };
  const scripted = (level: string, script: object | string) => ({
    [`modifier/lua-${level}`]: typeof script === 'string' ? { pre: script } : script,
  });
  const to = (path: string, extra: object = {}, more: object = {}) => ({
    endpoint: path,
    extra_config: extra,
    backend: [{ url_pattern: '/b' }],
    ...more,
  });
  const onBackend = (path: string, script: object | string, more: object = {}, part: object = {}) =>
    to(path, {}, { backend: [{ url_pattern: '/b', extra_config: scripted('backend', script), ...part }], ...more });
  const ask = async (url: string, options: object = {}) => {
    const { statusCode, body, headers } = await gateway.inject({ url, ...options });
    return { status: statusCode, body, headers, completed: headers['x-gateway-completed'] };
  };
  const told = { extra_config: { router: { return_error_msg: true } } };
  const last = () => backend.requests.at(-1)!;

  it('set client headers before they are filtered', async () => {
    await start(to('/a', scripted('endpoint', "ctx.load():headers('X-A','1')"), { input_headers: ['X-A'] }));
    equal((await ask('/a')).status, 200);
    equal(last().headers['x-a'], '1');
  });

  it('end the call with a response of their own before the backend is called', async () => {
    await start(onBackend('/a', `custom_error('{"m":1}', 418, 'application/json')`), told);
    const before = backend.requests.length;
    const { status, body, headers, completed } = await ask('/a');
    deepEqual([status, body, headers['content-type'], completed], [418, '{"m":1}', 'application/json', 'false']);
    equal(backend.requests.length, before);
  });

  it('change the merged data', async () => {
    const post = "local d=response.load():data(); d:set('n', d:get('list'):len())";
    await start(to('/a', scripted('proxy', { post })));
    equal((await ask('/a')).body, '{"list":[1,2],"name":"Ada","big":9007199254740993,"n":2}');
  });

  it('change the URL of a backend request', async () => {
    await start(onBackend('/a', "local r=request.load(); r:url(r:url()..'?z=1')"));
    equal((await ask('/a')).status, 200);
    equal(last().target, '/b?z=1');
  });

  it('respond instead of a backend', async () => {
    const post = "response.load():data():set('a',1); response.load():isComplete(true)";
    await start([
      onBackend('/a', { skip_next: true, post }),
      to('/p', scripted('proxy', { skip_next: true, post })),
      onBackend('/empty', { skip_next: true }),
    ]);
    const before = backend.requests.length;
    for (const path of ['/a', '/p']) {
      const { body, completed } = await ask(path);
      deepEqual([body, completed], ['{"a":1}', 'true']);
    }
    equal((await ask('/empty')).completed, 'false');
    equal(backend.requests.length, before);
  });

  it('change the status and body of a no-op response', async () => {
    const script = { post: "local r=response.load(); r:statusCode(201); r:headers('X-Seen', r:body()); r:body('x')" };
    await start(onBackend('/a', script, { output_encoding: 'no-op' }, { url_pattern: '/down' }));
    const { status, body, headers } = await ask('/a');
    deepEqual([status, body, headers['content-length'], headers['x-seen']], [201, 'x', '1', 'gone']);
  });

  it('cannot use the string library unless it is enabled', async () => {
    await start([
      to('/a', scripted('proxy', "string.upper('a')")),
      to('/open', scripted('proxy', { pre: "string.upper('a')", allow_open_libs: true })),
    ]);
    deepEqual([(await ask('/a')).status, (await ask('/open')).status], [500, 200]);
    ok(
      sinks.lines.some((line) =>
        line.includes('set "allow_open_libs": true to load the string library (pre-script:L1)'),
      ),
    );
  });

  it('store Lua tables as objects', async () => {
    await start(to('/a', scripted('proxy', { post: "response.load():data():set('p', {'a','b'})" })));
    deepEqual(JSON.parse((await ask('/a')).body).p, { 1: 'a', 2: 'b' });
  });

  it('change the parameters that backend URLs contain', async () => {
    const script = scripted('proxy', "request.load():params('User','bob')");
    await start(to('/u/{user}', script, { backend: [{ url_pattern: '/x/{user}' }] }));
    await ask('/u/ann');
    equal(last().target, '/x/bob');
  });

  it('cause a 500 on an error, and the log shows its position', async () => {
    await start([
      to('/a', scripted('proxy', 'nofunc()')),
      to('/b', scripted('proxy', { post: '\n\nnofunc()' })),
      to('/e', scripted('endpoint', 'nofunc()')),
      onBackend('/k', "error('own words')"),
    ]);
    for (const path of ['/a', '/b', '/e', '/k'])
      deepEqual([(await ask(path)).status, (await ask(path)).body], [500, '']);
    const errors = sinks.lines.filter((line) => line.includes('ERROR')).join('\n');
    match(errors, /attempt to call a nil value \(global 'nofunc'\) \(pre-script:L1\)/);
    match(errors, /\(post-script:L3\)/);
    match(errors, /own words \(pre-script:L1\)/);
  });

  it('never create a second header, path segment or parameter from one value', async () => {
    const ending = (code: string) => onBackend(`/${Math.random()}`, code);
    const refused = [
      "request.load():headers('X-A', 'a\\r\\nX-B: b')",
      "request.load():headers('X-A\\r\\nX-B', 'a')",
      "request.load():headers('X A', 'a')",
      "request.load():headers('Content-Length', '0')",
      "request.load():headers('Transfer-Encoding', 'chunked')",
      "request.load():headers('Connection', 'X-A')",
      "local l = luaList.new(); l:set(0, 'a\\nb'); request.load():headerList('X-A', l)",
      "request.load():method('GET / HTTP/1.1')",
      "request.load():url('ftp://host/')",
      "request.load():url('/only/a/path')",
      "custom_error('m', 400, 'text/plain\\r\\nX-B: b')",
      "custom_error('m', 100)",
    ].map(ending);
    const client = [
      "ctx.load():headers('X-A', 'a\\nb')",
      "ctx.load():url('/a b')",
      "ctx.load():url('//other/a\\r\\n')",
      "ctx.load():host('h/../x')",
      "ctx.load():method('GET /')",
    ].map((code) => to(`/${Math.random()}`, scripted('endpoint', code)));
    const params = to('/p/{id}', scripted('proxy', "request.load():params('Id', 'a/b?c=d&e#f')"), {
      backend: [{ url_pattern: '/x/{id}' }],
    });
    const query = to('/q', scripted('endpoint', "ctx.load():query('a', 'b&c=d')"), { input_query_strings: ['*'] });
    const dots = ['..', 'a/../b', '..\\\\b'].map((value, at) => {
      const script = scripted('proxy', `request.load():params('Id', '${value}')`);
      return to(`/d${at}/{id}`, script, { backend: [{ url_pattern: '/x/{id}' }] });
    });
    await start([...refused, ...client, params, query, ...dots]);
    const before = backend.requests.length;
    for (const { endpoint } of [...refused, ...client]) equal((await ask(endpoint)).status, 500, endpoint);
    equal(backend.requests.length, before);
    await ask('/p/1');
    equal(last().target, '/x/a%2Fb%3Fc=d&e%23f');
    await ask('/q?x=1');
    equal(last().target, '/b?a=b%26c%3Dd&x=1');
    for (const at of dots.keys()) equal((await ask(`/d${at}/1`)).status, 400, `${at}`);
  });

  it('read the whole client request and change it', async () => {
    const script = `local c = ctx.load()
      print(c:method(), c:url(), c:host(), c:body(), c:query('q'), c:params('id_user'), c:params('Id_user'), c:headers('x-a'))
      print(c:params():keys():get(0), c:params():get('id_user'), c:params():len())
      print(c:headerList('X-A'):len(), c:headers():get('X-A'):get(1), c:headers('none') == '')
      c:body('changed'); c:headers('X-A', nil); c:query('r', 'ä&'); c:params('id_user', 'eve')`;
    const backendOf = [{ url_pattern: '/b/{id_user}' }];
    const more = { method: 'POST', backend: backendOf, input_headers: ['*'], input_query_strings: ['*'] };
    await start(to('/u/{id_user}', scripted('endpoint', script), more));
    const headers = { 'X-A': ['1', '2'], host: 'shop.test' };
    await ask('/u/ann?q=1', { method: 'POST', headers, payload: 'body' });
    deepEqual(
      sinks.lines.filter((line) => /^(POST|id_user|2)\t/.test(line)).map((line) => line.trimEnd()),
      ['POST\t/u/ann?q=1\tshop.test\tbody\t1\tann\tann\t1', 'id_user\tann\t1', '2\t2\ttrue'],
    );
    const { target, body, headers: got } = last();
    deepEqual(
      [target, body.toString(), got['x-a'], got['content-length']],
      ['/b/eve?q=1&r=%C3%A4%26', 'changed', undefined, '7'],
    );
  });

  it('run for every request at the root, including unknown paths', async () => {
    const script =
      "local c = ctx.load(); if c:headers('X-Old') ~= '' then c:url('/a?n=1') elseif c:url() == '/no' then custom_error('gone', 410) end";
    await start(to('/a', {}, { input_query_strings: ['n'] }), {
      extra_config: { ...told.extra_config, ...scripted('endpoint', script) },
    });
    equal((await ask('/elsewhere', { headers: { 'X-Old': '1' } })).status, 200);
    equal(last().target, '/b?n=1');
    deepEqual([(await ask('/no')).status, (await ask('/no')).body, (await ask('/other')).status], [410, 'gone', 404]);
  });

  it('see only forwarded headers and parameters in a proxy script', async () => {
    const script = `local r = request.load()
      print(r:method(), r:path(), r:query(), r:url() == '', r:body(), r:params('Id'), r:headers('X-A'), r:headers('X-B') == '')
      r:query('b=2&a=1'); r:body('new'); r:headers('X-C', 'c')`;
    const more = { method: 'POST', input_headers: ['X-A'], input_query_strings: ['q'] };
    await start(to('/u/{id}', scripted('proxy', script), more));
    await ask('/u/7?q=1&z=2', { method: 'POST', headers: { 'X-A': 'a', 'X-B': 'b' }, payload: 'old' });
    ok(sinks.lines.includes('POST\t/u/7\tq=1\ttrue\told\t7\ta\ttrue\n'));
    const { target, body, headers } = last();
    deepEqual([target, body.toString(), headers['x-c']], ['/b?a=1&b=2', 'new', 'c']);
  });

  it('can fail one of several backends, and pass failures of the call through', async () => {
    const part = (group: string, pre: string) => ({ url_pattern: '/b', group, extra_config: scripted('backend', pre) });
    await start([
      to('/a', {}, { backend: [part('one', 'nofunc()'), part('two', '')] }),
      to('/failed', scripted('proxy', { post: "print('post')" }), { backend: [{ url_pattern: '/down' }] }),
    ]);
    const { status, body, completed } = await ask('/a');
    deepEqual([status, Object.keys(JSON.parse(body)), completed], [200, ['two'], 'false']);
    equal((await ask('/failed')).status, 500);
    ok(!sinks.lines.includes('post\n'));
  });

  it('see the error details of a failed backend, which clients do not receive', async () => {
    const post = `local e = response.load():data():get('error_stock')
      print('error', e:get('name'), e:get('http_status_code'), e:get('http_body'))`;
    const failing = { url_pattern: '/down', extra_config: { 'backend/http': { return_error_details: 'stock' } } };
    await start(to('/a', scripted('proxy', { post }), { backend: [failing, { url_pattern: '/b' }] }));
    const { body } = await ask('/a');
    deepEqual(Object.keys(JSON.parse(body).error_stock).sort(), ['http_body', 'http_status_code']);
    ok(sinks.lines.includes('error\tstock\t503\tgone\n'));
  });

  it('share globals between their pre and post parts, but not with other scripts', async () => {
    const script = { pre: 'seen = (seen or 0) + 1', post: "response.load():data():set('seen', seen)" };
    await start([to('/a', scripted('proxy', script)), onBackend('/b', script)]);
    for (const path of ['/a', '/a', '/b']) equal(JSON.parse((await ask(path)).body).seen, 1);
    const many = await Promise.all(Array.from({ length: 20 }, () => ask('/a')));
    ok(many.every(({ body }) => JSON.parse(body).seen === 1));
  });

  it('call HTTP services and wait without blocking the event loop', async () => {
    const pre = `local r = http_response.new('${backend.url}/other', 'POST', '{"x":1}', {['X-One'] = 'a', ['X-Two'] = {'b', 'c'}})
      print(r:statusCode(), r:headers('content-type'), json.unmarshal(r:body()):get('name')); r:close()
      print(http_response.new('${backend.url}/down'):statusCode())
      print(http_response.new('${backend.url}/zipped'):body())
      print(pcall(http_response.new, 'http://127.0.0.1:9/'))`;
    await start(to('/a', scripted('proxy', pre)));
    equal((await ask('/a')).status, 200);
    const { method, headers, body } = backend.requests.find(({ target }) => target === '/other')!;
    deepEqual([method, body.toString(), headers['x-one'], headers['x-two']], ['POST', '{"x":1}', 'a', 'b, c']);
    match(headers['user-agent']!, /^Sluice Version /);
    const printed = sinks.lines.join('');
    match(printed, /^200\tapplication\/json\tAda$/m);
    match(printed, /^503$/m);
    match(printed, /^unzipped$/m);
    match(printed, /^false\t/m);
  });

  it('are canceled when their endpoint times out while they wait', async () => {
    await start(to('/a', scripted('proxy', `http_response.new('${backend.url}/hang')`), { timeout: '100ms' }));
    equal((await ask('/a')).status, 500);
  });

  it('fail at the root if their HTTP call does not end within the root timeout', async () => {
    const asking = `local ok, why = pcall(http_response.new, '${backend.url}/hang'); ctx.load():headers('X-Why', why)`;
    const extra_config = scripted('endpoint', asking);
    await start(to('/a', {}, { input_headers: ['X-Why'], timeout: '20s' }), { timeout: '100ms', extra_config });
    equal((await ask('/a')).status, 200);
    match(String(last().headers['x-why']), /deadline exceeded/);
  });

  it('are rejected if an HTTP call has too few arguments or an unknown service', async () => {
    const codes = [
      'http_response.new()',
      "http_response.new('http://a', 'GET')",
      "http_response.new('file:///etc/passwd')",
      "http_response.new('http://h', 'GET', '', {['X-A'] = 'a\\r\\nb'})",
    ];
    await start(codes.map((code, at) => to(`/${at}`, scripted('proxy', code))));
    for (const at of codes.keys()) equal((await ask(`/${at}`)).status, 500);
  });

  it('run files before inline code, as a single script', async () => {
    const one = folder.write(
      'one.lua',
      'local greeting = "hello"\nfunction greet(name) return greeting .. " " .. name end',
    );
    const two = folder.write('two.lua', '\nfunction fail() nofunc() end\nprint(greeting)');
    await start([
      to('/a', scripted('proxy', { sources: [one, two], pre: "print(greet('ada'))" })),
      to('/b', scripted('proxy', { sources: [one, two], pre: 'fail()' })),
    ]);
    equal((await ask('/a')).status, 200);
    ok(sinks.lines.includes('hello ada\n') && sinks.lines.includes('hello\n'));
    equal((await ask('/b')).status, 500);
    ok(sinks.lines.some((line) => line.includes('(two.lua:L2)')));
  });

  it('read files again for every request in live mode', async () => {
    const path = folder.write('live.lua', "print('first')");
    await start(to('/a', scripted('proxy', { sources: [path], live: true })));
    await ask('/a');
    writeFileSync(path, "print('second')");
    await ask('/a');
    deepEqual(
      sinks.lines.filter((line) => /^(first|second)$/m.test(line)),
      ['first\n', 'second\n'],
    );
    writeFileSync(path, 'print(');
    equal((await ask('/a')).status, 500);
    ok(sinks.lines.some((line) => line.includes('(live.lua:L1)')));
  });

  it('set headers of decoded responses, and whether they are complete', async () => {
    const post =
      "local r=response.load(); r:headers('X-Seen','1'); r:isComplete(false); r:statusCode(418); print(r:statusCode(), r:body() == '')";
    await start(to('/a', scripted('proxy', { post })));
    const { status, headers, completed } = await ask('/a');
    deepEqual([status, headers['x-seen'], completed], [200, '1', 'false']);
    ok(sinks.lines.includes('0\ttrue\n'));
  });

  it('write values with their types to the log', async () => {
    const post = "debug.dump(response.load():data(), 'answer')";
    await start(to('/a', scripted('proxy', { post })), {
      extra_config: { 'telemetry/logging': { level: 'DEBUG', stdout: true } },
    });
    await ask('/a');
    match(sinks.lines.join(''), /\[Lua\] Dumping answer[\s\S]*list[\s\S]*name: \(string\) "Ada"/);
  });

  it('keep the status 413 for an oversized body', async () => {
    const extra = { ...scripted('endpoint', 'ctx.load():body()'), proxy: { max_payload: 10 } };
    await start(to('/a', extra, { method: 'POST' }));
    equal((await ask('/a', { method: 'POST', payload: 'x'.repeat(100) })).status, 413);
  });

  it('do not affect other requests if they never end', async () => {
    await start([
      to('/hangs', scripted('proxy', 'while true do pcall(function() while true do end end) end')),
      to('/a'),
    ]);
    const [hung, served] = await Promise.all([ask('/hangs'), ask('/a')]);
    deepEqual([hung.status, served.status], [500, 200]);
    ok(sinks.lines.some((line) => line.includes('the script was terminated: it ran for more than 100 ms')));
  });
});
