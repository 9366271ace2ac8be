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

/** The main process's store, used by workers named by letters. */
class Stand {
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

  put(by: string, what: Entry, askedAt = moment()): void {
    this.answer({ does: 'put', by, entry: what, asker, headers: [], askedAt });
  }
}

describe('the response store that workers share', () => {
  it('lets one worker fetch a response while the others wait for the result', () => {
    const stand = new Stand();
    deepEqual([stand.find('a'), stand.find('b'), stand.find('c')], ['fetch', 'wait', 'wait']);
    stand.put('a', entry(stand.now));
    deepEqual(stand.news, [{ does: 'land', by: 'a', key: 'k', landing: 'kept' }]);
    deepEqual([stand.find('b'), stand.find('d')], ['give 1000', 'give 1000']);
  });

  it('notifies waiting workers only', () => {
    const stand = new Stand();
    stand.find('a');
    stand.answer({ does: 'land', by: 'a', key: 'k', landing: 'failed' });
    deepEqual([stand.news, stand.find('b')], [[], 'fetch']);
  });

  it('does not let workers wait for themselves or for a worker that has been silent for long', () => {
    const stand = new Stand();
    deepEqual([stand.find('a'), stand.find('a'), stand.find('b')], ['fetch', 'fetch', 'wait']);
    stand.now += 5000;
    deepEqual([stand.find('b'), stand.find('c')], ['fetch', 'wait']);
    // The first worker has finished, so another one can fetch.
    stand.answer({ does: 'land', by: 'a', key: 'k', landing: 'failed' });
    equal(stand.find('c'), 'wait');
  });

  it('does not let workers wait for a URL whose response was recently not stored', () => {
    const stand = new Stand();
    stand.find('a');
    stand.answer({ does: 'land', by: 'a', key: 'k', landing: 'not kept' });
    deepEqual([stand.find('a'), stand.find('b')], ['fetch', 'fetch']);
    stand.now += 5000;
    deepEqual([stand.find('a'), stand.find('b')], ['fetch', 'wait']);
  });

  it('limits the number of registered fetches', () => {
    const stand = new Stand();
    stand.find('a');
    for (let each = 0; each < 10_000; each++) {
      stand.answer({ does: 'find', by: 'a', key: `other ${each}`, asker, headers: [], heldSince: null });
    }
    equal(stand.find('b'), 'fetch');
  });

  it('sends a stale response to the fetching worker unless the worker has it', () => {
    const stand = new Stand();
    stand.put('a', entry(500));
    stand.now = 100_000;
    deepEqual([stand.find('b'), stand.find('a', 500)], ['fetch 500', 'wait']);
  });

  it('notifies workers when a response they hold is replaced', () => {
    const stand = new Stand();
    stand.put('a', entry(1));
    stand.put('b', entry(2));
    deepEqual(stand.news, [{ does: 'renew', by: 'b', keys: ['k'] }]);
  });

  it('discards responses that were requested before an invalidation or a purge', () => {
    for (const change of [
      { does: 'drop', by: 'b', keys: ['k'] },
      { does: 'clear', by: 'b' },
    ] as const) {
      const stand = new Stand();
      const askedAt = moment();
      stand.put('a', entry(1), askedAt);
      stand.answer(change);
      equal(stand.find('c'), 'fetch');
      stand.put('a', entry(2), askedAt);
      equal(stand.find('d'), 'wait');
      stand.put('c', entry(stand.now));
      equal(stand.find('d'), 'give 1000');
      deepEqual(stand.news[0], change);
    }
  });

  it('reports a response that is too large to be stored', () => {
    const stand = new Stand();
    stand.find('a');
    stand.find('b');
    stand.put('a', entry(1, { body: Buffer.alloc(20_000) }));
    deepEqual(stand.news, [{ does: 'land', by: 'a', key: 'k', landing: 'not kept' }]);
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
  it('does not extend the claim of a worker that might be gone', () => {
    const stand = new Stand();
    deepEqual([stand.find('a'), stand.find('b')], ['fetch', 'wait']);
    stand.now -= 500;
    equal(stand.find('b'), 'fetch');
  });

  it('does not extend the period in which a URL counts as not stored', () => {
    const { unkept } = new Flights();
    unkept.note('k', 'not kept', 10_000);
    deepEqual([unkept.has('k', 14_000), unkept.has('k', 9000)], [true, false]);
  });
});

describe('a worker without a main process', () => {
  afterEach(() => mock.timers.reset());

  it('waits for it only briefly, then sends no requests to it for a while', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    const asked: Question[] = [];
    const silent = (bytes: Uint8Array) => {
      asked.push(unpack(bytes));
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
      asked.map(({ does }) => does),
      ['find'],
    );
    // Invalidations are always sent to other workers.
    store.drop(['k']);
    equal(asked.length, 2);
  });

  it('continues immediately if it cannot be reached', async () => {
    const store = new GatewayStore(() => Promise.reject(new Error('gone')), 'a');
    equal(await store.find('k', asking, undefined), null);
  });

  it('limits the size and number of concurrent bodies it sends', () => {
    const asked: Question[] = [];
    const store = new GatewayStore((bytes) => {
      asked.push(unpack(bytes));
      return new Promise<never>(() => {});
    }, 'a');
    store.put(entry(1, { body: Buffer.alloc(5 * 2 ** 20) }), asking, 0);
    for (let each = 0; each < 6; each++) store.put(entry(1, { body: Buffer.alloc(4 * 2 ** 20) }), asking, 0);
    const puts = asked.filter(({ does }) => does === 'put').length;
    deepEqual([puts, asked.filter(({ does }) => does === 'land').length], [4, 3]);
  });

  it('handles a result that arrives before it waits', async () => {
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
