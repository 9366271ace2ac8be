import { deepEqual, equal, notEqual, ok, rejects } from 'node:assert/strict';
import { mock } from 'node:test';
import { ByteStream, definePlugin, offer, type PipeRequest, type Reply } from '#contract';
import { plugin as sse } from '../../../../plugins/encoding/sse.ts';
import { keyOf } from '../../../../plugins/qos/http-cache/caching.ts';
import { Store } from '../../../../plugins/qos/http-cache/store.ts';
import { changedReplies } from '../../../../plugins/shared/ports/changed-replies.ts';
import { Bench, holdTime, replyWith } from './stand.ts';

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

  it('drops what was used longest ago over its number of answers', async () => {
    await bench.open({ max_items: 2, max_size: 100_000 });
    bench.given = { headers: kept };
    await askAll('/a', '/b', '/a', '/c');
    deepEqual(await askAll('/a', '/c', '/b'), ['/b']);
  });

  it('drops what was used longest ago over its bytes', async () => {
    await bench.open({ max_items: 100, max_size: 1024 });
    bench.given = { headers: kept, body: 'x'.repeat(400) };
    await askAll('/a', '/b', '/a', '/c');
    deepEqual(await askAll('/a', '/c', '/b'), ['/b']);
  });

  it('keeps no answer of its whole size, and gives it whole all the same', async () => {
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

  it('keeps no body in pieces that grows over its size, and gives back the room for it', async () => {
    const stand = await bench.open({ max_items: 100, max_size: 1024 });
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
    ok(stand);
  });

  it('counts what a client has made long: the values that an answer varies by, and its identity', () => {
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

  it('holds the digest of a long address', () => {
    const name = keyOf('GET', 'http://a', `/?q=${'x'.repeat(15_000)}`);
    ok(name.length < 100, name);
    notEqual(name, keyOf('GET', 'http://a', `/?q=${'x'.repeat(14_999)}y`));
    equal(keyOf('GET', 'http://a', '/x'), 'GET http://a/x');
  });

  it('holds 64 MiB without limits, and counts what holding an answer takes', () => {
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
      'outlives a reload that leaves its settings as they are',
      { max_items: 9, max_size: 9000 },
      { max_items: 9, max_size: 9000 },
      1,
    ],
    ['begins anew with other limits', { max_items: 9, max_size: 9000 }, { max_items: 8, max_size: 9000 }, 2],
    ['begins anew when it is shared from now on', {}, { shared: true }, 2],
  ] as const) {
    it(what, async () => {
      const stand = await bench.open(before);
      bench.given = { headers: kept };
      await bench.ask();
      await stand.reload(after);
      bench.use(stand);
      await bench.ask();
      equal(bench.calls, calls);
    });
  }

  for (const [what, config] of [
    ['only max_items', { max_items: 5 }],
    ['only max_size', { max_size: 5000 }],
  ] as const) {
    it(`refuses ${what}`, () =>
      rejects(bench.open(config), ({ errors: [error] }) => {
        deepEqual([error.code, error.pointer], ['CACHE_LIMITS', '']);
        return true;
      }));
  }

  for (const [what, config] of [
    ['no answer at all', { max_items: 0, max_size: 5000 }],
    ['less than a kilobyte', { max_items: 1, max_size: 1023 }],
    ['a text', { shared: 'yes' }],
    ['an unknown field', { ttl: '5m' }],
  ] as const) {
    it(`refuses ${what}`, () => rejects(bench.open(config), { code: 'CONFIG_INVALID' }));
  }

  it('accepts shared next to limits, and comments', async () => {
    const { warnings } = await bench.open({ shared: true, max_items: 5, max_size: 5000, '@why': 'x' });
    deepEqual(warnings, []);
  });

  for (const [what, around] of [
    ['a method whose answers are not kept', { backend: { method: 'POST' } }],
    ['a protocol that is not HTTP', { backend: { extra_config: { 'backend/lambda': {} } } }],
    ['an output that is streamed', { endpoint: { output_encoding: 'sse' }, plugins: [sse] }],
  ] as const) {
    it(`warns of ${what}`, async () => {
      const { warnings } = await bench.open({}, around);
      deepEqual(
        warnings.map(({ code }) => code),
        ['CACHE_WITHOUT_EFFECT'],
      );
    });
  }

  it('warns of nothing where the backend gets the method of the client', async () => {
    const { warnings } = await bench.open({}, { backend: { method: '' } });
    deepEqual(warnings, []);
  });

  it('goes by the headers that others outside of it make of an answer, and keeps it as it came', async () => {
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

  it('keeps nothing that cannot be changed as configured', async () => {
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
