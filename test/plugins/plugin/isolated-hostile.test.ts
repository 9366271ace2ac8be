import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { ConfigError } from '#contract';
import { PluginLoader } from '../../../kernel/registry/loading/plugin-loader.ts';
import { ReadFiles } from '../../../kernel/runtime/prints/read-files.ts';
import { until } from '../../support/conditions.ts';
import { json, startBackend, type TestBackend } from '../../support/gateway.ts';
import { IsolatedStage, named } from '../../support/isolated.ts';

const middleware = (...names: string[]) => named('middleware', names);
/** Accesses the thread's message port to the gateway. */
const capture = `import { MessagePort, parentPort } from 'node:worker_threads';
let port = null;
const { on } = MessagePort.prototype;
MessagePort.prototype.on = function (...given) { port = this; return on.apply(this, given); };`;
/** An endless loop that needs little processor time until it is ended. */
const WAITING_LOOP = 'const turns = new Int32Array(new SharedArrayBuffer(4)); for (;;) Atomics.wait(turns, 0, 0, 10);';
const fine = '() => (ctx, request, next) => next()';

describe('misbehaving isolated modules', function () {
  this.timeout(60_000);
  let backend: TestBackend;
  let stage: IsolatedStage;

  before(async () => {
    backend = await startBackend(json({ ok: true }));
  });
  after(() => backend.close());
  beforeEach(() => {
    stage = new IsolatedStage(backend.url);
  });
  afterEach(() => stage.close());

  const status = async (path: string) => (await stage.ask(path)).status;
  const recovered = (path: string) => until(async () => (await status(path)) === 200);

  it('with an endless loop affect only their own requests, and the log shows the line', async () => {
    stage.write({
      loop: `middleware: () => (ctx, request, next) => {
        if (!request.headers['x-loop']) return next();
        for (;;) ctx = null;
      }`,
      wait: `middleware: () => async (ctx, request, next) => { await new Promise(() => {}); }`,
    });
    await stage.start({
      '/loop': { ...middleware('loop'), input_headers: ['X-Loop'], timeout: '30s' },
      '/wait': { ...middleware('wait'), timeout: '30s' },
    });
    equal(await status('/loop'), 200);
    const waiting = status('/wait');
    let isOver = false;
    const looping = stage.ask('/loop', { headers: { 'X-Loop': '1' } }).finally(() => {
      isOver = true;
    });
    let others = 0;
    while (!isOver) {
      const { status: given, body } = await stage.ask('/free');
      deepEqual([given, body], [200, { ok: true }], stage.sinks.lines.slice(-20).join(''));
      others += 1;
      await delay(5);
    }
    deepEqual([(await looping).status, await waiting], [500, 500]);
    ok(others > 20, `${others} requests`);
    match(
      stage.lines(/\[PLUGIN: loop\] hook "middleware" of GET \/loop failed/)[0] ?? '',
      /at .*team\.js:5:\d+: ThreadEnded: it blocked its thread for \d+ ms/,
    );
    await recovered('/loop');
    equal(stage.gateway.containment.records.find(({ name }) => name === 'loop')!.faultCount >= 1, true);
  });

  it('are logged with the source position, even in TypeScript files', async () => {
    const head = `import { inspect } from 'node:util';`;
    const loop =
      'middleware: () => (ctx: object, request: object) => { inspect(ctx as object, request as never); for (;;) ; }';
    const fail = `middleware: () => async (ctx: object) => { inspect(ctx as object); throw new TypeError('no'); }`;
    const column = (name: string, code: string, part: string) =>
      `{ name: '${name}', apiVersion: 1, isolate: true, ${code} }`.indexOf(part) + 1;
    stage.write({ loop, fail }, 'team.ts', head);
    await stage.start({
      '/loop': { ...middleware('loop'), timeout: '30s' },
      '/fail': { ...middleware('fail'), timeout: '30s' },
    });
    equal(await status('/fail'), 500);
    match(stage.lines(/team\.ts/).join('\n'), new RegExp(`team\\.ts:4:${column('fail', fail, 'new TypeError')}\\b`));
    equal(await status('/loop'), 500);
    const at = /team\.ts:3:(\d+): ThreadEnded/.exec(stage.lines(/ThreadEnded: it blocked its thread/).join('\n'))?.[1];
    const from = column('loop', loop, 'for (;;)');
    ok(Number(at) >= from && Number(at) <= from + 'for (;;) ;'.length, `${at} is not within ${from}`);
  });

  it('with an endless loop are skipped if the policy allows that', async () => {
    stage.write({ loop: `middleware: () => () => { ${WAITING_LOOP} }` });
    await stage.start({ '/loop': { ...middleware('loop'), timeout: '30s' } }, { plugin: { on_error: 'skip' } });
    const { status: given, body } = await stage.ask('/loop');
    deepEqual([given, body], [200, { ok: true }]);
  });

  it('that terminate their thread are restarted with increasing delays', async () => {
    stage.write({ exit: 'middleware: () => () => process.exit(3)' });
    await stage.start({ '/exit': middleware('exit') });
    equal(await status('/exit'), 500);
    await until(() => stage.lines(/exited with code 3; restarting in 100 ms/).length === 1);
    await until(async () => {
      await status('/exit');
      return stage.lines(/restarting in 200 ms/).length === 1;
    });
    ok(
      stage.lines(/\[PLUGIN: exit\] hook "middleware" of GET \/exit failed: ThreadEnded: its thread exited/).length > 0,
    );
  });

  it('that exhaust memory lose their thread without affecting others', async () => {
    stage.write({
      eat: `middleware: () => (ctx, request, next) => {
        if (!request.headers['x-eat']) return next();
        const all = [];
        for (;;) all.push(new Array(1e5).fill(all.length));
      }`,
    });
    await stage.start({ '/eat': { ...middleware('eat'), input_headers: ['X-Eat'], timeout: '30s' } });
    equal((await stage.ask('/eat', { headers: { 'X-Eat': '1' } })).status, 500);
    match(stage.lines(/\[PLUGIN: eat\] hook/)[0] ?? '', /ran out of memory|blocked its thread/);
    equal(await status('/free'), 200);
    await recovered('/eat');
  });

  it('that hang or throw after an edit block no request, and the active configuration stays in use', async () => {
    stage.write({ edited: `middleware: ${fine}` });
    stage.write({ other: `middleware: ${fine}` }, 'other.js');
    const endpoints = { '/edited': middleware('edited'), '/other': middleware('other') };
    await stage.start(endpoints);
    for (const [source, message] of [
      [`${WAITING_LOOP} // isolate`, /team\.js.*did not finish loading: it runs in an endless loop/s],
      ["\n  throw new Error('no luck'); // isolate", /team\.js:2:9: no luck/],
    ] as const) {
      stage.folder.write('team.js', source);
      let isOver = false;
      const reload = stage.gateway.reload(stage.config(endpoints)).then(() => 'applied', String);
      void reload.then(() => {
        isOver = true;
      });
      while (!isOver) {
        deepEqual([await status('/edited'), await status('/other'), await status('/free')], [200, 200, 200]);
        await delay(50);
      }
      match(await reload, message);
    }
    deepEqual([await status('/edited'), await status('/other')], [200, 200]);
  });

  it('that are removed during a request stop without an error in the log', async () => {
    stage.write({
      slow: `middleware: (config, host) => async (ctx, request, next) => {
        host.logger.info('entered');
        await new Promise((resolve) => { globalThis.resolve = resolve; });
        return next();
      }`,
      opener: `middleware: () => (ctx, request, next) => { globalThis.resolve(); return next(); }`,
    });
    await stage.start({ '/slow': { ...middleware('slow'), timeout: '30s' }, '/open': middleware('opener') });
    const slow = status('/slow');
    await until(() => stage.lines(/entered/).length === 1);
    stage.sinks.lines.length = 0;
    // Waits, because the file of the removed middleware stays loaded until the slow request ends.
    await stage.gateway.reload(stage.config({ '/open': middleware('opener') }));
    equal(await status('/slow'), 404);
    equal(await status('/open'), 200);
    equal(await slow, 200);
    stage.folder.delete('team.js');
    stage.write({ rest: `middleware: ${fine}` }, 'rest.js');
    await stage.gateway.reload(stage.config({ '/rest': middleware('rest') }));
    equal(await status('/rest'), 200);
    deepEqual(stage.lines(/ERROR|WARNING|CRITICAL/), []);
  });

  it('are suspended after the configured number of faults', async () => {
    stage.write({ broken: "middleware: () => () => { throw new Error('no'); }" });
    await stage.start({ '/broken': middleware('broken') }, { plugin: { suspend_after: 2 } });
    deepEqual([await status('/broken'), await status('/broken'), await status('/broken')], [500, 500, 503]);
  });

  it('with unhandled rejections are logged and counted, and keep running', async () => {
    stage.write({
      stray: `middleware: () => (ctx, request, next) => {
        setTimeout(() => { throw new Error('in a timer'); });
        Promise.reject(new Error('unheard'));
        return next();
      }`,
    });
    await stage.start({ '/stray': middleware('stray') });
    equal(await status('/stray'), 200);
    await until(
      () => stage.lines(/hook "outside of a request".*team\.js:\d+:\d+: Error: (in a timer|unheard)/).length >= 2,
    );
    equal(await status('/stray'), 200);
  });

  it('have no effect if they call the next step after they have responded', async () => {
    stage.write({
      late: `middleware: () => async (ctx, request, next) => {
        setTimeout(() => next().catch((error) => console.log('late: ' + error.message)), 20);
        return { data: {} };
      }`,
    });
    await stage.start({ '/late': middleware('late') });
    const before = backend.requests.length;
    equal(await status('/late'), 200);
    await until(() => stage.lines(/late: /).length === 1);
    equal(backend.requests.length, before);
  });

  it('lose log lines if they log too much, and lose their thread if they send too many messages', async () => {
    stage.write(
      {
        chatty: `middleware: (config, host) => async (ctx, request, next) => {
        for (let at = 0; at < 1000; at++) { host.logger.error('line ' + at); console.log('said ' + at); }
        return next();
      }`,
        flood: `middleware: (config, host) => async () => { for (let at = 0; at < 1e5; at++) port.postMessage(at); }`,
      },
      'team.js',
      capture,
    );
    await stage.start({ '/chatty': middleware('chatty'), '/flood': middleware('flood') });
    equal(await status('/chatty'), 200);
    await until(() => stage.lines(/line 199/).length === 1);
    ok(stage.lines(/line \d+/).length === 200, `${stage.lines(/line \d+/).length} lines`);
    ok(stage.lines(/said \d+/).length <= 500, `${stage.lines(/said \d+/).length} lines`);
    equal(await status('/flood'), 500);
    ok(stage.lines(/sent 20000 messages within a second/).length > 0);
    await recovered('/chatty');
  });

  it('do not affect other modules if they send malformed messages', async () => {
    stage.write(
      {
        garbage: `middleware: () => async (ctx, request, next) => {
          parentPort.postMessage({ garbage: true });
          const frames = [
            null, 1, 'text', [], {}, [9], [0], [0, 1], [0, 1, 1], [0, 'a', 1, 'next', {}], [0, 7, 1, 'next', null],
            [0, 8, 1, 'next', { run: 0, request: {} }], [0, 9, 1, 'next', { run: 0, request: { method: 'A B' } }],
            [0, 9, 1, 'body', { run: 0, ref: 77 }], [0, 10, 1, 'toString', {}], [0, 11, 1, '__proto__', {}],
            [0, 12, 1, 'http', { method: 'GET', origin: 'no', target: '/', headers: [] }], [0, 13, 1, 'redis', {}],
            [0, 14, 1, 'quota', { id: {} }], [1, 0, 1, 'log', null], [1, 0, 1, 'log', { level: 'NONE', prefixes: 3, text: {} }],
            [1, 0, 1, 'measured', [null, 1, { kind: 'x', name: 1, value: 'x' }]], [1, 0, 1, 'span', { run: 0, what: 'end' }],
            [1, 0, 0, 'stray', null], [1, 0, 0, 'stray', { kind: '__proto__', stack: 7 }], [2, 999, {}], [3, 999, null],
          ];
          for (const frame of frames) port.postMessage(frame);
          return next();
        }`,
        lie: `middleware: () => () => { for (let at = 0; at < 50; at++) port.postMessage([2, at, answers.shift()]); return new Promise(() => {}); }`,
        header: `middleware: () => async (ctx, request, next) => { request.headers['X-A'] = 'a\\r\\nX-B: b'; return next(); }`,
      },
      'team.js',
      `${capture}
const answers = [null, 5, {}, { reply: {} }, { reply: { status: 'a' } }, { reply: { ref: 5 } }, { reply: { ref: null, status: 900, headers: [] } }];`,
    );
    stage.write({ other: `middleware: ${fine}` }, 'other.js');
    await stage.start({
      '/garbage': middleware('garbage'),
      '/lie': { ...middleware('lie'), timeout: '300ms' },
      '/header': middleware('header'),
      '/other': middleware('other'),
    });
    equal(await status('/garbage'), 200);
    equal(await status('/header'), 500);
    for (let at = 0; at < 8; at++) equal(await status('/lie'), 500);
    deepEqual([await status('/other'), await status('/free')], [200, 200]);
  });

  describe('are rejected', () => {
    const load = async (source: string, loadMs?: number): Promise<readonly ConfigError[]> => {
      stage.folder.write('team.js', source);
      const { adapt, isolation } = await import('../../../plugins/plugin/adapt.ts');
      const loader = new PluginLoader(async () => ({ adapt, isolation }), loadMs);
      const { errors } = await loader.load({ folder: stage.folder.path }, undefined, new ReadFiles(), () => false);
      return errors;
    };
    const element = (more: string) => `export const plugin = { name: 'a', apiVersion: 1, isolate: true, ${more} };`;

    for (const [what, source, code, message] of [
      [
        'if they throw while loading',
        `\n  throw new Error('no luck'); // isolate`,
        'PLUGIN_LOAD',
        /team\.js:2:9: no luck$/,
      ],
      ['if they are not a module', `isolate (`, 'PLUGIN_LOAD', /team\.js:1:10: SyntaxError/],
      ['if they import a missing module', `import './gone.js'; // isolate`, 'PLUGIN_LOAD', /cannot read .*gone\.js/],
      [
        'if they never finish loading',
        `await new Promise(() => {}); // isolate`,
        'PLUGIN_LOAD',
        /waits for a promise that never settles/,
      ],
      ['if they loop while loading', `${WAITING_LOOP} // isolate`, 'PLUGIN_LOAD', /endless loop/],
      ['if they exit while loading', `process.exit(0); // isolate`, 'PLUGIN_LOAD', /exited with code 0/],
      [
        'if they define an HTTP server',
        element('httpServer: () => null'),
        'PLUGIN_MODULE',
        /"httpServer" cannot be isolated: .*streams/,
      ],
      ['if they export nothing', element(''), 'PLUGIN_MODULE', /provides nothing/],
      [
        'if their schema is invalid',
        element(`configSchema: { type: 'none' }, middleware: ${fine}`),
        'PLUGIN_MODULE',
        /not a valid JSON Schema/,
      ],
      [
        'if another module in the same file is not isolated',
        `export const plugin = [{ name: 'a', apiVersion: 1, isolate: true, middleware: ${fine} }, { name: 'b', apiVersion: 1, middleware: ${fine} }];`,
        'PLUGIN_MODULE',
        /plugin "b" is not isolated/,
      ],
      [
        'if they are native plugins',
        `export const plugin = { name: 'acme/a', contract: 1, description: 'A.', isolate: true };`,
        'PLUGIN_INVALID',
        /modules of handlers support "isolate", because the functions, streams/,
      ],
    ] as const) {
      it(what, async () => {
        const [error] = await load(source, 1000);
        equal(error?.code, code);
        match(error?.message ?? '', message);
      });
    }

    it('if they enable isolation in an imported file', async () => {
      stage.folder.write('lib/what.js', 'export const what = { isolate: true };');
      const source = `import { what } from './lib/what.js';\nexport const plugin = { name: 'a', apiVersion: 1, ...what, middleware: ${fine} };`;
      const [error] = await load(source);
      match(`${error?.message} ${error?.hint}`, /before it declared isolation.* in .*team\.js itself/);
    });

    for (const [what, factory, message] of [
      ['throws', "() => { throw new Error('no luck'); }", /PLUGIN_FACTORY .*"a" of .*team\.js: no luck/],
      ['returns nothing', '() => {}', /PLUGIN_FACTORY .*returned nothing/],
      ['does not return', `() => { ${WAITING_LOOP} }`, /PLUGIN_FACTORY .*blocked its thread for \d+ ms/],
      ['uses an undeclared Redis connection', "(config, host) => host.redis('gone')", /REDIS_CONNECTION .*"gone"/],
      ['uses an undeclared quota', "(config, host) => host.quota('gone')", /QUOTA_UNKNOWN .*"gone"/],
    ] as const) {
      it(`if a factory ${what}`, async () => {
        stage.write({ a: `middleware: ${factory}` });
        const refusal = await stage.start({ '/a': middleware('a') }).then(() => 'started', String);
        match(refusal, message);
        match(refusal, /\/endpoints\/0\/extra_config\/plugin~1middleware\/name\/0/);
      });
    }
  });
});
