import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../../support/conditions.ts';
import { startBackend, type TestBackend } from '../../support/gateway.ts';
import { IsolatedStage, named } from '../../support/isolated.ts';

// biome-ignore lint/suspicious/noExplicitAny: what responses hold is not typed
type Loose = any;

const middleware = (...names: string[]) => named('middleware', names);
const raw = { output_encoding: 'no-op', backend: [{ url_pattern: '/text', encoding: 'no-op' }] };
const posted = { method: 'POST', input_headers: ['X-Kept'] };

describe('isolated modules', function () {
  this.timeout(60_000);
  let backend: TestBackend;
  let stage: IsolatedStage;
  /** Ends the pending response of `/slow`. */
  let endSlow: () => void;

  before(async () => {
    backend = await startBackend((seen, response) => {
      if (seen.target === '/fail') response.writeHead(500).end('broken');
      else if (seen.target === '/text') response.writeHead(200, { 'Content-Type': 'text/plain' }).end('plain text');
      else if (seen.target === '/slow') {
        response.writeHead(200, { 'Content-Type': 'text/plain' }).write('first');
        endSlow = () => response.end('last');
      } else if (seen.target === '/large') response.writeHead(200).end(Buffer.alloc(9 * 2 ** 20));
      else
        response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"ok":true,"long":12345678901234567890}');
    });
  });
  after(() => backend.close());
  const sent = () => backend.requests.at(-1)!;

  describe('support', () => {
    before(async () => {
      stage = new IsolatedStage(backend.url);
      stage.write({
        pass: `middleware: () => (ctx, request, next) => next()`,
        change: `middleware: (config) => async (ctx, request, next) => {
          request.headers['x-sent'] = config.header;
          request.query.more = ['a', 'b'];
          const response = await next();
          response.data.seen = [request.method, request.path, request.params.id, request.params.Id];
          response.headers['X-Team'] = 'a';
          return response;
        }`,
        short: `middleware: () => () => ({ data: { short: true }, isComplete: true })`,
        refuse: `middleware: () => () => { throw Object.assign(new Error('slow down'), { statusCode: 429, encoding: 'text/x' }); }`,
        broken: `middleware: () => () => {
          throw new Error('no luck');
        }`,
        odd: `middleware: () => () => 42`,
        unsendable: `middleware: () => async (ctx, request, next) => { const response = await next(); response.data.a = 1n; return response; }`,
        twice: `middleware: () => async (ctx, request, next) => { await next(); return next(); }`,
        caught: `middleware: () => async (ctx, request, next) => {
          try { return await next(); } catch (error) { return { data: { status: error.statusCode } }; }
        }`,
        ctx: `middleware: () => async (ctx, request, next) => ({ data: {
          ip: ctx.clientIp, id: ctx.requestId, left: ctx.deadline - Date.now(), claims: ctx.claims, span: ctx.span, aborted: ctx.signal.aborted,
        } })`,
        wait: `middleware: () => (ctx) => new Promise((resolve) => {
          ctx.signal.addEventListener('abort', () => { console.log('given up'); resolve({ data: { late: true } }); });
        })`,
        put: `middleware: () => async (ctx, request, next) => {
          ctx.state.set('a', { n: 1 });
          ctx.state.set('hidden', () => 1);
          const response = await next();
          response.data.state = [...ctx.state.keys()].sort();
          return response;
        }`,
        get: `middleware: () => async (ctx, request, next) => {
          const response = await next();
          response.data.got = ctx.state.get('a').n;
          ctx.state.set('b', 2);
          ctx.state.delete('a');
          return response;
        }`,
        echo: `middleware: () => async (ctx, request) => ({ data: { text: await request.text(), kept: request.headers['x-kept'] } })`,
        read: `middleware: () => async (ctx, request, next) => { await request.json(); return next(); }`,
        replace: `middleware: () => async (ctx, request, next) => { request.body = 'replaced'; return next(); }`,
        upper: `middleware: () => async (ctx, request, next) => {
          const response = await next();
          let text = '';
          for await (const chunk of response.io) text += chunk;
          response.io = text.toUpperCase();
          response.statusCode = 202;
          return response;
        }`,
        tag: `requestModifier: (config) => (request) => { request.headers['X-Tag'] = config.tag.value; },
          responseModifier: () => ({
            modify: (response) => { response.data.tagged = response.request.headers['x-tag'] === undefined; },
            onError: (failure) => { console.log('failure ' + failure.statusCode); },
          })`,
        stop: `requestModifier: () => () => { throw { statusCode: 403, message: 'no' }; }`,
        client: `httpClient: (config, host) => async (request) => {
          if (request.url.endsWith('/own')) return Response.json({ own: request.headers.get('x-kept') });
          const response = await host.defaultClient(request);
          return Response.json({ ...(await response.json()), through: true });
        }`,
        host: `middleware: (config, host) => async () => {
          host.logger.warning('hello');
          return { data: { place: host.place, version: host.gatewayVersion, home: host.secrets.get('ISOLATED_TEST') } };
        }`,
        fetch: `middleware: (config, host) => async () => {
          const response = await host.fetch(config.url + '/x?y=1', { method: 'POST', body: 'hello', headers: { 'X-A': 'b' } });
          const away = await host.fetch('http://127.0.0.1:1/').catch((error) => [error.name, error.message]);
          const aborted = await host.fetch(config.url + '/slow', { signal: AbortSignal.timeout(20) }).then((r) => r.text()).catch((error) => error.name);
          return { data: { status: response.status, body: await response.json(), away, aborted } };
        }`,
      });
      process.env['ISOLATED_TEST'] = 'hidden';
      await stage.start(
        {
          '/pass': middleware('pass'),
          '/change/{id}': named('middleware', ['change'], { change: { header: 'yes' } }),
          '/short': middleware('short'),
          '/refuse': middleware('refuse'),
          '/broken': middleware('broken'),
          '/odd': middleware('odd'),
          '/unsendable': middleware('unsendable'),
          '/twice': middleware('twice'),
          '/caught': { ...middleware('caught'), backend: [{ url_pattern: '/fail' }] },
          '/ctx': { ...middleware('ctx'), timeout: '5s' },
          '/wait': { ...middleware('wait'), timeout: '100ms' },
          '/state': middleware('put', 'get'),
          '/echo': { ...middleware('echo'), ...posted },
          '/read': { ...middleware('read'), ...posted },
          '/replace': { ...middleware('replace'), ...posted },
          '/upper': { ...middleware('upper'), ...raw },
          '/stream': { ...middleware('pass'), ...raw, backend: [{ url_pattern: '/slow', encoding: 'no-op' }] },
          '/large': { ...middleware('upper'), ...raw, backend: [{ url_pattern: '/large', encoding: 'no-op' }] },
          '/tag': named('req-resp-modifier', ['tag'], { tag: { value: 't' } }),
          '/untagged': {
            ...named('req-resp-modifier', ['tag'], { tag: { value: 't' } }),
            backend: [{ url_pattern: '/fail' }],
          },
          '/stop': named('req-resp-modifier', ['stop']),
          '/client': { backend: [{ url_pattern: '/b', ...named('http-client', 'client') }] },
          '/own': { input_headers: ['X-Kept'], backend: [{ url_pattern: '/own', ...named('http-client', 'client') }] },
          '/host': middleware('host'),
          '/fetch': named('middleware', ['fetch'], { fetch: { url: backend.url } }),
        },
        { extra_config: { router: { return_error_msg: true } } },
      );
    });
    after(() => {
      delete process.env['ISOLATED_TEST'];
      return stage.close();
    });

    it('changes of the request and the response, with exact numbers', async () => {
      const { gateway } = stage;
      match((await gateway.inject('/pass')).body, /"long":12345678901234567890/);
      const { body, headers } = await stage.ask('/change/7');
      deepEqual((body as Loose).seen, ['GET', '/change/7', '7', '7']);
      equal(headers['x-team'], 'a');
      deepEqual([sent().headers['x-sent'], sent().target], ['yes', '/b?more=a&more=b']);
    });

    it('their own responses without a backend call', async () => {
      const before = backend.requests.length;
      const { body, headers } = await stage.ask('/short');
      deepEqual([body, headers['x-gateway-completed'], backend.requests.length], [{ short: true }, 'true', before]);
    });

    it('errors with a status, which become responses', async () => {
      const { status, body, headers } = await stage.ask('/refuse');
      deepEqual([status, body, headers['content-type']], [429, 'slow down', 'text/x']);
    });

    it('the detection of faults, which are logged with plugin, hook, endpoint and line, and counted', async () => {
      equal((await stage.ask('/broken')).status, 500);
      const [line] = stage.lines(/\[PLUGIN: broken\] hook "middleware" of GET \/broken failed/);
      match(line ?? '', /at .*team\.js:\d+:\d+: Error: no luck/);
      const record = stage.gateway.containment.records.find(({ name }) => name === 'broken')!;
      equal(record.faultCount, 1);
      match(record.faults[0]!.place ?? '', /team\.js:\d+/);
    });

    it('the detection of invalid and unserializable return values, which are faults', async () => {
      deepEqual([(await stage.ask('/odd')).status, (await stage.ask('/unsendable')).status], [500, 500]);
      equal(stage.lines(/\[PLUGIN: odd\].*unknown response type: number/).length, 1);
      equal(stage.lines(/\[PLUGIN: unsendable\].*BigInt/).length, 1);
    });

    it('repeated calls of the next step, and catching its failures', async () => {
      const before = backend.requests.length;
      equal((await stage.ask('/twice')).status, 200);
      equal(backend.requests.length, before + 2);
      deepEqual((await stage.ask('/caught')).body, { status: 500 });
    });

    it('a context', async () => {
      const { body } = await stage.ask('/ctx', { headers: { 'X-Request-Id': 'r1' } });
      const { left, ip, ...rest } = body as Loose;
      ok(left > 1000 && left <= 5000 && ip !== '');
      deepEqual(rest, { id: 'r1', claims: null, span: null, aborted: false });
    });

    it('a signal that is aborted at the deadline', async () => {
      equal((await stage.ask('/wait')).status, 500);
      await until(() => stage.lines(/given up/).length === 1);
    });

    it('state shared by the modules of a request, as far as it can be copied', async () => {
      const { got, state } = (await stage.ask('/state')).body as Loose;
      deepEqual([got, state], [1, ['b', 'hidden']]);
    });

    it('request bodies in one piece', async () => {
      const options = { method: 'POST', payload: 'hello', headers: { 'X-Kept': 'k' } };
      deepEqual((await stage.ask('/echo', options)).body, { text: 'hello', kept: ['k'] });
      equal((await stage.ask('/read', { method: 'POST', payload: '{"a":1}' })).status, 200);
      equal(sent().body.toString(), '{"a":1}');
      equal((await stage.ask('/read', { method: 'POST', payload: 'no json' })).status, 400);
      await stage.ask('/replace', { method: 'POST', payload: 'hello' });
      equal(sent().body.toString(), 'replaced');
    });

    it('response bodies in one piece, while unread ones stay streams', async () => {
      const { status, body } = await stage.ask('/upper');
      deepEqual([status, body], [202, 'PLAIN TEXT']);
      const { port } = await stage.gateway.listen();
      const response = await fetch(`http://127.0.0.1:${port}/stream`);
      const reader = response.body!.getReader();
      equal(Buffer.from((await reader.read()).value!).toString(), 'first');
      endSlow();
      equal(Buffer.from((await reader.read()).value!).toString(), 'last');
    });

    it('the rejection of oversized bodies', async () => {
      const { status } = await stage.ask('/large');
      equal(status, 500);
      equal(stage.lines(/larger than 8388608 bytes: isolated plugins receive bodies in one piece/).length > 0, true);
      const echoed = await stage.ask('/echo', { method: 'POST', payload: 'x'.repeat(2 ** 20 + 1) });
      equal(echoed.status, 413);
    });

    it('modifiers for requests, responses and failures', async () => {
      deepEqual(((await stage.ask('/tag')).body as Loose).tagged, false);
      equal(sent().headers['x-tag'], 't');
      equal((await stage.ask('/untagged')).status, 500);
      await until(() => stage.lines(/failure 500/).length === 1);
      const { status, body } = await stage.ask('/stop');
      deepEqual([status, body], [403, 'no']);
    });

    it("HTTP clients and the gateway's client", async () => {
      const { through, ok: isOk } = (await stage.ask('/client')).body as Loose;
      deepEqual([through, isOk], [true, true]);
      const before = backend.requests.length;
      deepEqual((await stage.ask('/own', { headers: { 'X-Kept': 'k' } })).body, { own: 'k' });
      equal(backend.requests.length, before);
    });

    it('a host with log, name, version and environment', async () => {
      const { version, ...body } = (await stage.ask('/host')).body as Loose;
      deepEqual(body, { place: { kind: 'endpoint', method: 'GET', path: '/host' }, home: 'hidden' });
      match(version, /^\d/);
      await until(() => stage.lines(/WARNING.*\[ENDPOINT: \/host\].*\[PLUGIN: host\].*hello/).length === 1);
    });

    it("fetch over the gateway's client", async () => {
      const { status, body, away, aborted } = (await stage.ask('/fetch')).body as Loose;
      deepEqual([status, body.ok, away, aborted], [200, true, ['TypeError', 'fetch failed'], 'TimeoutError']);
      endSlow();
    });

    it('one thread for all uses of a file', () => {
      deepEqual(new Set(stage.gateway.containment.records.map(({ hash }) => hash)).size, 1);
    });
  });

  describe('on a reload', () => {
    beforeEach(() => {
      stage = new IsolatedStage(backend.url);
    });
    afterEach(() => stage.close());

    /** A module that records its lifecycle in a file. */
    const recording = (version: string) => `middleware: (config, host) => {
      note('made ${version}');
      host.onDispose(() => note('first ${version}'));
      host.onDispose(() => note('second ${version}'));
      return async (ctx, request, next) => ({ data: { version: '${version}' } });
    }, dispose: () => note('disposed ${version}')`;
    const write = (version: string) => {
      const log = JSON.stringify(join(stage.folder.path, 'log'));
      const head = `import { appendFileSync } from 'node:fs';\nimport { isMainThread } from 'node:worker_threads';
        const note = (text) => appendFileSync(${log}, (isMainThread ? 'main ' : '') + text + '\\n');\nnote('loaded');`;
      stage.write({ team: recording(version) }, 'team.js', head);
    };
    const notes = () => {
      const file = join(stage.folder.path, 'log');
      return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
    };

    it('replace edited code, and the old thread ends with its last configuration', async () => {
      write('one');
      await stage.start({ '/a': middleware('team') });
      deepEqual((await stage.ask('/a')).body, { version: 'one' });
      deepEqual(notes(), ['loaded', 'loaded', 'made one']);
      write('two');
      await stage.gateway.reload(stage.config({ '/a': middleware('team') }));
      deepEqual((await stage.ask('/a')).body, { version: 'two' });
      await until(() => notes().includes('disposed one'));
      deepEqual(
        notes().filter((note) => note.endsWith('one')),
        ['made one', 'second one', 'first one', 'disposed one'],
      );
      await stage.gateway.reload(stage.config({}));
      await until(() => notes().includes('disposed two'));
      ok(notes().every((note) => !note.startsWith('main')));
    });

    it('share a thread between two configurations with the same content', async () => {
      write('one');
      await stage.start({ '/a': middleware('team') });
      await stage.gateway.reload(stage.config({ '/a': middleware('team'), '/c': middleware('team') }));
      deepEqual((await stage.ask('/c')).body, { version: 'one' });
      equal(notes().filter((note) => note === 'loaded').length, 2);
    });

    it('ignore a module that an edit broke, and report a deleted one', async () => {
      write('one');
      await stage.start({ '/a': middleware('team') });
      stage.folder.write('team.js', 'export const plugin = { isolate: true, name: };');
      const refusal = await stage.gateway.reload(stage.config({ '/a': middleware('team') })).catch(String);
      match(refusal as string, /PLUGIN_LOAD.*team\.js:1:46: SyntaxError/s);
      stage.folder.delete('team.js');
      match(
        (await stage.gateway.reload(stage.config({ '/a': middleware('team') })).catch(String)) as string,
        /PLUGIN_UNKNOWN/,
      );
      deepEqual((await stage.ask('/a')).body, { version: 'one' });
    });
  });
});
