import { deepEqual, equal, notEqual, ok, rejects } from 'node:assert/strict';
import { mock } from 'node:test';
import { ByteStream, definePlugin, offer, type PipeRequest, type Reply } from '#contract';
import { plugin as sse } from '../../../../plugins/encoding/sse.ts';
import { keyOf } from '../../../../plugins/qos/http-cache/caching.ts';
import { Store } from '../../../../plugins/qos/http-cache/store.ts';
import { changedReplies } from '../../../../plugins/shared/ports/changed-replies.ts';
import { Bench, holdTime, replyWith } from './testbed.ts';

const kept = 'Cache-Control: max-age=60';

describe('qos/http-cache stores', () => {
  const bench = new Bench();
  beforeEach(holdTime);
  afterEach(async () => {
    for (const left of await bench.close()) deepEqual(left, { kept: 0, deferred: 0 });
    bench.requests.length = 0;
    mock.timers.reset();
  });

  const targets = () => bench.requests.splice(0).map(({ target }) => target);
  const askAll = async (...all: string[]) => {
    for (const target of all) await bench.ask('', { target });
    return targets();
  };

  it('evict the least recently used response over max_items', async () => {
    await bench.open({ max_items: 2, max_size: 100_000 });
    bench.given = { headers: kept };
    await askAll('/a', '/b', '/a', '/c');
    deepEqual(await askAll('/a', '/c', '/b'), ['/b']);
  });

  it('evict the least recently used response over max_size', async () => {
    await bench.open({ max_items: 100, max_size: 1024 });
    bench.given = { headers: kept, body: 'x'.repeat(400) };
    await askAll('/a', '/b', '/a', '/c');
    deepEqual(await askAll('/a', '/c', '/b'), ['/b']);
  });

  it('do not store a response as large as max_size, but return it completely', async () => {
    await bench.open({ max_items: 100, max_size: 1024 });
    const around = 'HTTP/1.1 200 OK\r\n\r\n'.length + 'Cache-Control: max-age=60\r\n'.length;
    for (const [length, calls] of [
      [1024 - around - 1, 1],
      [1024 - around, 2],
      [100_000, 2],
    ] as const) {
      bench.requests.length = 0;
      bench.given = { headers: kept, body: 'x'.repeat(length) };
      const target = `/${length}`;
      for (let turn = 0; turn < 2; turn++) equal((await bench.ask('', { target })).text.length, length);
      equal(bench.calls, calls, `${length}`);
    }
  });

  it('do not store a streamed body that exceeds max_size, and release the space reserved for it', async () => {
    const testbed = await bench.open({ max_items: 100, max_size: 1024 });
    bench.given = () => {
      const body = new ByteStream();
      for (let piece = 0; piece < 10; piece++) body.write(new Uint8Array(200));
      body.end();
      return replyWith({ headers: kept, body });
    };
    for (let turn = 0; turn < 2; turn++) equal((await bench.ask()).text.length, 2000);
    equal(bench.calls, 2);
    bench.given = { headers: kept };
    await bench.ask('', { target: '/small' });
    await bench.ask('', { target: '/small' });
    equal(bench.calls, 3);
    ok(testbed);
  });

  it('count the size of client-controlled keys: Vary values and identities', () => {
    const store = new Store();
    const limits = { maxItems: 1000, maxBytes: 100_000, overheadBytes: 0 };
    const policy = { lifetime: 60, noCache: false, mustRevalidate: false, staleWhileRevalidate: 0, staleIfError: 0 };
    const long = 'x'.repeat(4000);
    for (let each = 0; each < 100; each++) {
      const entry = { status: 200, headers: [], body: null, since: 0, arrivedAt: 0, initialAge: 0, policy };
      const names = [
        { identity: long, person: null, varies: [] },
        { identity: '', person: long, varies: [] },
        { identity: '', person: null, varies: [['x-user', long]] as const },
      ][each % 3]!;
      store.put({ key: `GET /${each}`, ...entry, ...names }, limits);
    }
    ok(store.items <= 28, `${store.items}`);
    ok(store.bytes <= limits.maxBytes);
  });

  it('store the digest of a long URL', () => {
    const name = keyOf('GET', 'http://a', `/?q=${'x'.repeat(15_000)}`);
    ok(name.length < 100, name);
    notEqual(name, keyOf('GET', 'http://a', `/?q=${'x'.repeat(14_999)}y`));
    equal(keyOf('GET', 'http://a', '/x'), 'GET http://a/x');
  });

  it('are limited to 64 MiB by default, including overhead', () => {
    const store = new Store();
    const limits = { maxItems: Number.POSITIVE_INFINITY, maxBytes: 64 * 1024 * 1024, overheadBytes: 1024 };
    const policy = { lifetime: 60, noCache: false, mustRevalidate: false, staleWhileRevalidate: 0, staleIfError: 0 };
    for (let each = 0; each < 100_000; each++) {
      const entry = { identity: '', varies: [], status: 200, headers: [], body: new Uint8Array(10) };
      store.put({ key: `GET ${each}`, person: null, ...entry, since: 0, arrivedAt: 0, initialAge: 0, policy }, limits);
    }
    ok(store.items < 65_536, `${store.items}`);
    ok(store.bytes <= limits.maxBytes && store.bytes > limits.maxBytes - 2000);
  });

  for (const [what, before, after, calls] of [
    [
      'survive a reload that does not change their settings',
      { max_items: 9, max_size: 9000 },
      { max_items: 9, max_size: 9000 },
      1,
    ],
    ['start empty after their limits change', { max_items: 9, max_size: 9000 }, { max_items: 8, max_size: 9000 }, 2],
    ['start empty after they become shared', {}, { shared: true }, 2],
  ] as const) {
    it(what, async () => {
      const testbed = await bench.open(before);
      bench.given = { headers: kept };
      await bench.ask();
      await testbed.reload(after);
      bench.use(testbed);
      await bench.ask();
      equal(bench.calls, calls);
    });
  }

  for (const [what, config] of [
    ['only max_items', { max_items: 5 }],
    ['only max_size', { max_size: 5000 }],
  ] as const) {
    it(`are rejected if they have ${what}`, () =>
      rejects(bench.open(config), ({ errors: [error] }) => {
        deepEqual([error.code, error.pointer], ['CACHE_LIMITS', '']);
        return true;
      }));
  }

  for (const [what, config] of [
    ['a max_items of 0', { max_items: 0, max_size: 5000 }],
    ['a max_size below 1 KiB', { max_items: 1, max_size: 1023 }],
    ['a string for shared', { shared: 'yes' }],
    ['an unknown field', { ttl: '5m' }],
  ] as const) {
    it(`are rejected if they have ${what}`, () => rejects(bench.open(config), { code: 'CONFIG_INVALID' }));
  }

  it('accept "shared" with limits, and comments', async () => {
    const { warnings } = await bench.open({ shared: true, max_items: 5, max_size: 5000, '@why': 'x' });
    deepEqual(warnings, []);
  });

  for (const [what, around] of [
    ['a method whose responses are not stored', { backend: { method: 'POST' } }],
    ['a protocol other than HTTP', { backend: { extra_config: { 'backend/lambda': {} } } }],
    ['a streaming output encoding', { endpoint: { output_encoding: 'sse' }, plugins: [sse] }],
  ] as const) {
    it(`cause a warning about ${what}`, async () => {
      const { warnings } = await bench.open({}, around);
      deepEqual(
        warnings.map(({ code }) => code),
        ['CACHE_WITHOUT_EFFECT'],
      );
    });
  }

  it("cause no warning if the backend receives the client's method", async () => {
    const { warnings } = await bench.open({}, { backend: { method: '' } });
    deepEqual(warnings, []);
  });

  it('apply the headers that outer components set, and store the original response', async () => {
    const change = (reply: Reply, _request: PipeRequest) => reply.headers.set('Cache-Control', 'max-age=60');
    const changing = definePlugin({ name: 'test/changing', description: 'Changes.', offers: [changedReplies] });
    await bench.open({}, { plugins: [changing], offers: [offer(changedReplies, change)] });
    bench.given = { headers: 'X-A: 1' };
    await bench.ask();
    const { reply } = await bench.ask();
    deepEqual([bench.calls, reply.headers.list], [1, ['X-A', '1', 'Age', '0']]);
    bench.given = { headers: 'Cache-Control: no-store' };
    for (let turn = 0; turn < 2; turn++) await bench.ask('', { target: '/secret' });
    equal(bench.calls, 3);
  });

  it('do not store a response that cannot be modified as configured', async () => {
    const change = () => {
      throw new Error('no');
    };
    const changing = definePlugin({ name: 'test/changing', description: 'Changes.', offers: [changedReplies] });
    await bench.open({}, { plugins: [changing], offers: [offer(changedReplies, change)] });
    bench.given = { headers: kept };
    await bench.ask();
    await bench.ask();
    equal(bench.calls, 2);
  });
});
