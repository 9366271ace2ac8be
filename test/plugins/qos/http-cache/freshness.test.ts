import { deepEqual, equal } from 'node:assert/strict';
import { mock } from 'node:test';
import { Bench, dateIn, holdTime, pass } from './testbed.ts';

describe('freshness in qos/http-cache', () => {
  const bench = new Bench();
  beforeEach(async () => {
    holdTime();
    await bench.open();
  });
  afterEach(async () => {
    await bench.close();
    bench.requests.length = 0;
    mock.timers.reset();
  });

  /** @returns the number of backend calls for a request now and one after the given seconds. */
  async function callsOf(headers: string, seconds: number, asking = ''): Promise<number> {
    bench.given = { headers };
    await bench.ask();
    pass(seconds);
    await bench.ask(asking);
    return bench.calls;
  }

  it('reuses a fresh response, with its Age', async () => {
    bench.given = { headers: 'Cache-Control: max-age=60 / X-Kept: 1' };
    equal((await bench.ask()).age, undefined);
    pass(59);
    const { text, age, reply } = await bench.ask();
    deepEqual([bench.calls, text, age, reply.headers.get('x-kept')], [1, 'body', '59', '1']);
  });

  it('counts the age of responses even if the clock is set back', async () => {
    const before = process.hrtime();
    bench.given = { headers: 'Cache-Control: max-age=60' };
    await bench.ask();
    pass(-3600);
    const clock = mock.method(process, 'hrtime', () => [before[0] + 70, before[1]]);
    try {
      await bench.ask();
    } finally {
      clock.mock.restore();
    }
    equal(bench.calls, 2);
  });

  for (const [what, headers, seconds, calls] of [
    ['after its lifetime', 'Cache-Control: max-age=60', 60, 2],
    ['without a lifetime', 'X: 1', 0, 2],
    ['with a malformed lifetime', 'Cache-Control: max-age=soon', 0, 2],
    ['with a negative lifetime', 'Cache-Control: max-age=-1', 0, 2],
    ['with two lifetimes, the first of which counts', 'Cache-Control: max-age=60, max-age=0', 1, 1],
    ['with a quoted lifetime', 'Cache-Control: max-age="60"', 1, 1],
    ['with an oversized lifetime', 'Cache-Control: max-age=99999999999999999999', 86_400, 1],
    ['with no-store', 'Cache-Control: no-store, max-age=60', 0, 2],
    ['with no-cache', 'Cache-Control: no-cache, max-age=60', 0, 2],
    ['with private', 'Cache-Control: private, max-age=60', 0, 2],
    ['with a list of private headers', 'Cache-Control: private="X-A", max-age=60', 0, 2],
    ['with a longer s-maxage', 'Cache-Control: max-age=1, s-maxage=60', 30, 1],
    ['with a shorter s-maxage', 'Cache-Control: max-age=60, s-maxage=1', 30, 2],
    ['with an Age above its lifetime', 'Cache-Control: max-age=60 / Age: 50', 10, 2],
    ['with an Age within its lifetime', 'Cache-Control: max-age=60 / Age: 50', 9, 1],
    ['with a directive in capitals', 'cache-control: MAX-AGE=60', 1, 1],
    ['with unknown directives', 'Cache-Control: immutable, x="max-age=0, no-store", max-age=60', 1, 1],
  ] as const) {
    it(`calls the backend ${calls === 1 ? 'once' : 'again'} for a response ${what}`, async () => {
      equal(await callsOf(headers, seconds), calls);
    });
  }

  it('counts the lifetime from Date, or from its arrival if Date is missing or in the future', async () => {
    for (const [date, calls] of [
      [-50, 2],
      [-49, 1],
      [1000, 1],
    ] as const) {
      bench.requests.length = 0;
      equal(await callsOf(`Cache-Control: max-age=60 / Date: ${dateIn(date)}`, 10), calls, `${date}`);
      pass(10_000);
    }
  });

  it('derives the lifetime from Expires without max-age, and treats an invalid date as expired', async () => {
    equal(await callsOf(`Date: ${dateIn(0)} / Expires: ${dateIn(60)}`, 59), 1);
    pass(10_000);
    bench.requests.length = 0;
    equal(await callsOf('Expires: 0', 0), 2);
    pass(10_000);
    bench.requests.length = 0;
    equal(await callsOf(`Cache-Control: max-age=0 / Expires: ${dateIn(60)}`, 1), 2);
  });

  for (const [what, asking, seconds, calls] of [
    ['with no-cache', 'Cache-Control: no-cache', 0, 2],
    ['with a max-age below its age', 'Cache-Control: max-age=9', 10, 2],
    ['with a max-age above its lifetime', 'Cache-Control: max-age=1000', 60, 2],
    ['with a min-fresh above its remaining lifetime', 'Cache-Control: min-fresh=30', 30, 2],
    ['with a min-fresh below its remaining lifetime', 'Cache-Control: min-fresh=29', 30, 1],
    ['with a max-stale above its staleness', 'Cache-Control: max-stale=10', 70, 1],
    ['with a max-stale below its staleness', 'Cache-Control: max-stale=10', 71, 2],
    ['with an unlimited max-stale', 'Cache-Control: max-stale', 10_000, 1],
  ] as const) {
    it(`calls the backend ${calls === 1 ? 'once' : 'again'} for a request ${what}`, async () => {
      equal(await callsOf('Cache-Control: max-age=60', seconds, asking), calls);
    });
  }

  for (const strict of ['must-revalidate', 'proxy-revalidate', 's-maxage=60', 'no-cache']) {
    it(`never serves a stale response with ${strict}`, async () => {
      equal(await callsOf(`Cache-Control: max-age=60, ${strict}`, 61, 'Cache-Control: max-stale'), 2);
    });
  }

  it('does not store the response to a request with no-store', async () => {
    bench.given = { headers: 'Cache-Control: max-age=60' };
    await bench.ask('Cache-Control: no-store');
    await bench.ask();
    equal(bench.calls, 2);
  });

  it('returns 504 for only-if-cached without a suitable response', async () => {
    const only = 'Cache-Control: only-if-cached';
    deepEqual([(await bench.ask(only)).status, bench.calls], [504, 0]);
    bench.given = { headers: 'Cache-Control: max-age=60' };
    await bench.ask();
    deepEqual([(await bench.ask(only)).status, bench.calls], [200, 1]);
    pass(61);
    deepEqual([(await bench.ask(only)).status, bench.calls], [504, 1]);
  });

  it('stores responses of any status that have a lifetime', async () => {
    bench.given = { status: 404, headers: 'Cache-Control: max-age=60', body: 'none' };
    await bench.ask();
    const { status, text } = await bench.ask();
    deepEqual([status, text, bench.calls], [404, 'none', 1]);
  });

  for (const [what, given] of [
    ['a partial response', { status: 206, headers: 'Cache-Control: max-age=60' }],
    ['an unrequested 304', { status: 304, headers: 'Cache-Control: max-age=60', body: null }],
    ['a response with Set-Cookie', { headers: 'Cache-Control: max-age=60, public / Set-Cookie: sid=1' }],
    ['a response with Vary: *', { headers: 'Cache-Control: max-age=60 / Vary: *' }],
  ] as const) {
    it(`never stores ${what}`, async () => {
      bench.given = given;
      await bench.ask();
      await bench.ask();
      equal(bench.calls, 2);
    });
  }

  describe('with a stored stale response', () => {
    const old = 'Cache-Control: max-age=60 / ETag: "1" / Last-Modified: Mon, 01 Dec 2025 00:00:00 GMT / X-A: old';

    it('revalidates it with the backend and merges its new headers', async () => {
      bench.given = { headers: `${old} / Content-Length: 4` };
      await bench.ask();
      pass(61);
      bench.given = {
        status: 304,
        headers: 'Cache-Control: max-age=10 / X-A: new / Content-Length: 9 / Set-Cookie: a=1',
        body: null,
      };
      const { status, text, age, reply } = await bench.ask();
      deepEqual([status, text, age, bench.calls], [200, 'body', '0', 2]);
      deepEqual([bench.saw('if-none-match'), bench.saw('if-modified-since')], ['"1"', 'Mon, 01 Dec 2025 00:00:00 GMT']);
      const { headers } = reply;
      deepEqual(
        ['x-a', 'content-length', 'set-cookie', 'etag'].map((name) => headers.get(name)),
        ['new', '4', undefined, '"1"'],
      );
      pass(9);
      await bench.ask();
      equal(bench.calls, 2);
      pass(2);
      await bench.ask();
      equal(bench.calls, 3);
    });

    it("replaces the client's conditions with its own during the backend call only", async () => {
      bench.given = { headers: old };
      await bench.ask();
      pass(61);
      bench.given = { status: 304, body: null };
      const { reply } = await bench.ask('If-None-Match: "client"');
      equal(bench.saw('if-none-match'), '"1"');
      equal(reply.status, 200);
    });

    it('replaces it with another response', async () => {
      bench.given = { headers: old };
      await bench.ask();
      pass(61);
      bench.given = { headers: old, body: 'news' };
      equal((await bench.ask()).text, 'news');
      equal((await bench.ask()).text, 'news');
      equal(bench.calls, 2);
    });

    it('drops it if the new response cannot be stored', async () => {
      bench.given = { headers: old };
      await bench.ask();
      pass(61);
      bench.given = { status: 404 };
      equal((await bench.ask()).status, 404);
      await bench.ask();
      equal(bench.saw('if-none-match'), undefined);
    });

    it('revalidates it every time if it has no lifetime', async () => {
      bench.given = { headers: 'ETag: "1"' };
      await bench.ask();
      bench.given = { status: 304, body: null };
      equal((await bench.ask()).text, 'body');
      equal(bench.saw('if-none-match'), '"1"');
    });

    for (const [what, kept, asking, seconds, status] of [
      ['stale-if-error', 'max-age=60, stale-if-error=600', '', 599, 200],
      ['an expired stale-if-error', 'max-age=60, stale-if-error=600', '', 600, 503],
      ['an unlimited stale-if-error', 'max-age=60, stale-if-error', '', 100_000, 200],
      ['stale-if-error in the request', 'max-age=60', 'Cache-Control: stale-if-error=600', 599, 200],
      ['no stale-if-error', 'max-age=60', '', 61, 503],
      ['must-revalidate', 'max-age=60, stale-if-error=600, must-revalidate', '', 61, 503],
    ] as const) {
      it(`returns ${status} for a backend that fails after ${seconds} seconds, with ${what}`, async () => {
        bench.given = { headers: `Cache-Control: ${kept}` };
        await bench.ask();
        pass(seconds);
        bench.given = { status: 503 };
        equal((await bench.ask(asking)).status, status);
      });
    }
  });
});
