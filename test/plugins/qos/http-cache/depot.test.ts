import { deepEqual, equal, ok } from 'node:assert/strict';
import { mock } from 'node:test';
import { Call, HeaderBag } from '#contract';
import { Depot } from '../../../../plugins/qos/http-cache/depot.ts';
import type { Entry } from '../../../../plugins/qos/http-cache/entry.ts';
import { Flights } from '../../../../plugins/qos/http-cache/flights.ts';
import { GatewayStore } from '../../../../plugins/qos/http-cache/gateway-store.ts';
import { type News, pack, type Question, type Response, unpack } from '../../../../plugins/qos/http-cache/messages.ts';
import { moment } from '../../../../plugins/qos/http-cache/moment.ts';

const limits = { maxItems: 10, maxBytes: 10_000, overheadBytes: 0 };
const asker = { identity: '', person: '' };
const asking = { asker, headers: new HeaderBag() };
const policy = { lifetime: 60, noCache: false, mustRevalidate: false, staleWhileRevalidate: 0, staleIfError: 0 };

function entry(since = 0, more: Partial<Entry> = {}): Entry {
  const body = Buffer.from(`body of ${since}`);
  return {
    ...asker,
    key: 'k',
    varies: [],
    status: 200,
    headers: ['A', '1'],
    body,
    since,
    arrivedAt: moment(),
    initialAge: 0,
    policy,
    ...more,
  };
}

/** The main process's store, used by workers whose names are letters. */
class Testbed {
  readonly depot = new Depot();
  readonly news: News[] = [];
  now = 1000;

  answer(question: Question): Response {
    return this.depot.answer(question, limits, (news) => this.news.push(news), this.now);
  }

  find(by: string, heldSince: number | null = null): string {
    const { does, entry: sent } = this.answer({ does: 'find', by, key: 'k', asker, headers: [], heldSince });
    return sent ? `${does} ${sent.since}` : does;
  }

  put(by: string, what: Entry, requestedAt = moment()): void {
    this.answer({ does: 'put', by, entry: what, asker, headers: [], requestedAt });
  }
}

describe('the response store that workers share', () => {
  it('lets one worker fetch a response while the others wait for the result', () => {
    const testbed = new Testbed();
    deepEqual([testbed.find('a'), testbed.find('b'), testbed.find('c')], ['fetch', 'wait', 'wait']);
    testbed.put('a', entry(testbed.now));
    deepEqual(testbed.news, [{ does: 'land', by: 'a', key: 'k', landing: 'kept' }]);
    deepEqual([testbed.find('b'), testbed.find('d')], ['give 1000', 'give 1000']);
  });

  it('notifies only workers that wait', () => {
    const testbed = new Testbed();
    testbed.find('a');
    testbed.answer({ does: 'land', by: 'a', key: 'k', landing: 'failed' });
    deepEqual([testbed.news, testbed.find('b')], [[], 'fetch']);
  });

  it('does not let workers wait for themselves or for a worker that has been silent for long', () => {
    const testbed = new Testbed();
    deepEqual([testbed.find('a'), testbed.find('a'), testbed.find('b')], ['fetch', 'fetch', 'wait']);
    testbed.now += 5000;
    deepEqual([testbed.find('b'), testbed.find('c')], ['fetch', 'wait']);
    // Another worker can fetch the response, because the first worker has finished.
    testbed.answer({ does: 'land', by: 'a', key: 'k', landing: 'failed' });
    equal(testbed.find('c'), 'wait');
  });

  it('does not let workers wait for a URL whose response was recently not stored', () => {
    const testbed = new Testbed();
    testbed.find('a');
    testbed.answer({ does: 'land', by: 'a', key: 'k', landing: 'not kept' });
    deepEqual([testbed.find('a'), testbed.find('b')], ['fetch', 'fetch']);
    testbed.now += 5000;
    deepEqual([testbed.find('a'), testbed.find('b')], ['fetch', 'wait']);
  });

  it('limits the number of registered fetches', () => {
    const testbed = new Testbed();
    testbed.find('a');
    for (let each = 0; each < 10_000; each++) {
      testbed.answer({ does: 'find', by: 'a', key: `other ${each}`, asker, headers: [], heldSince: null });
    }
    equal(testbed.find('b'), 'fetch');
  });

  it('sends a stale response to the fetching worker unless the worker has it', () => {
    const testbed = new Testbed();
    testbed.put('a', entry(500));
    testbed.now = 100_000;
    deepEqual([testbed.find('b'), testbed.find('a', 500)], ['fetch 500', 'wait']);
  });

  it('notifies workers when a response of which they have a copy is replaced', () => {
    const testbed = new Testbed();
    testbed.put('a', entry(1));
    testbed.put('b', entry(2));
    deepEqual(testbed.news, [{ does: 'renew', by: 'b', keys: ['k'] }]);
  });

  it('discards responses that were requested before an invalidation or a purge', () => {
    for (const change of [
      { does: 'drop', by: 'b', keys: ['k'] },
      { does: 'clear', by: 'b' },
    ] as const) {
      const testbed = new Testbed();
      const requestedAt = moment();
      testbed.put('a', entry(1), requestedAt);
      testbed.answer(change);
      equal(testbed.find('c'), 'fetch');
      testbed.put('a', entry(2), requestedAt);
      equal(testbed.find('d'), 'wait');
      testbed.put('c', entry(testbed.now));
      equal(testbed.find('d'), 'give 1000');
      deepEqual(testbed.news[0], change);
    }
  });

  it('reports a response that is too large to be stored', () => {
    const testbed = new Testbed();
    testbed.find('a');
    testbed.find('b');
    testbed.put('a', entry(1, { body: Buffer.alloc(20_000) }));
    deepEqual(testbed.news, [{ does: 'land', by: 'a', key: 'k', landing: 'not kept' }]);
  });

  it('transfers messages unchanged, and bodies byte for byte', () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    for (const body of [bytes, Buffer.alloc(0), null]) {
      const message = { does: 'give', entry: entry(1, { body, varies: [['a', null]] }) } as const;
      deepEqual(unpack(pack(message)), message);
    }
    deepEqual(unpack(pack({ does: 'wait', entry: null })), { does: 'wait', entry: null });
  });
});

describe('a clock that is set back', () => {
  it('does not extend the claim of a worker that may have ended', () => {
    const testbed = new Testbed();
    deepEqual([testbed.find('a'), testbed.find('b')], ['fetch', 'wait']);
    testbed.now -= 500;
    equal(testbed.find('b'), 'fetch');
  });

  it('does not extend the period in which a URL counts as not stored', () => {
    const { unkept } = new Flights();
    unkept.note('k', 'not kept', 10_000);
    deepEqual([unkept.has('k', 14_000), unkept.has('k', 9000)], [true, false]);
  });
});

describe('a worker without a main process', () => {
  afterEach(() => mock.timers.reset());

  it('waits for the main process only briefly, then sends no requests to it for a while', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    const requested: Question[] = [];
    const silent = (bytes: Uint8Array) => {
      requested.push(unpack(bytes));
      return new Promise<never>(() => {});
    };
    const store = new GatewayStore(silent, 'a');
    const finding = store.find('k', asking, undefined);
    mock.timers.tick(250);
    equal(await finding, null);
    equal(await store.find('k', asking, undefined), null);
    store.put(entry(), asking, 0);
    store.land('k', 'failed');
    deepEqual(
      requested.map(({ does }) => does),
      ['find'],
    );
    // Other workers are always notified of invalidations.
    store.drop(['k']);
    equal(requested.length, 2);
  });

  it('continues immediately if it cannot reach the main process', async () => {
    const store = new GatewayStore(() => Promise.reject(new Error('gone')), 'a');
    equal(await store.find('k', asking, undefined), null);
  });

  it('limits the size and the number of bodies that it sends concurrently', () => {
    const requested: Question[] = [];
    const store = new GatewayStore((bytes) => {
      requested.push(unpack(bytes));
      return new Promise<never>(() => {});
    }, 'a');
    store.put(entry(1, { body: Buffer.alloc(5 * 2 ** 20) }), asking, 0);
    for (let each = 0; each < 6; each++) store.put(entry(1, { body: Buffer.alloc(4 * 2 ** 20) }), asking, 0);
    const puts = requested.filter(({ does }) => does === 'put').length;
    deepEqual([puts, requested.filter(({ does }) => does === 'land').length], [4, 3]);
  });

  it('handles a result that arrives before it waits for it', async () => {
    const flights = new Flights();
    const flight = flights.expect('k');
    flights.landedElsewhere('k', 'kept');
    flights.landedElsewhere('k', 'failed');
    equal(await flight.wait(new Call()), 'kept');
    flights.forget('k', flight);
    flights.landedElsewhere('k', 'kept');
    ok(flights.expect('k') !== flight);
  });
});
