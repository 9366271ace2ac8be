import { deepEqual, equal } from 'node:assert/strict';
import { mock } from 'node:test';
import { Bench, dateIn, holdTime, pass } from './stand.ts';

describe('qos/http-cache freshness', () => {
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

  /** @returns how often the backend was asked by one request now and one after so many seconds. */
  async function callsOf(headers: string, seconds: number, asking = ''): Promise<number> {
    bench.given = { headers };
    await bench.ask();
    pass(seconds);
    await bench.ask(asking);
    return bench.calls;
  }

  it('case 1: gives an answer again within its life, with its age', async () => {
    bench.given = { headers: 'Cache-Control: max-age=60 / X-Kept: 1' };
    equal((await bench.ask()).age, undefined);
    pass(59);
    const { text, age, reply } = await bench.ask();
    deepEqual([bench.calls, text, age, reply.headers.get('x-kept')], [1, 'body', '59', '1']);
  });

  it('ages while the clock is set back', async () => {
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
    ['after its life is over', 'Cache-Control: max-age=60', 60, 2],
    ['case 3: without a life', 'X: 1', 0, 2],
    ['with a life that cannot be read', 'Cache-Control: max-age=soon', 0, 2],
    ['with a life below 0', 'Cache-Control: max-age=-1', 0, 2],
    ['with two lives, of which the first counts', 'Cache-Control: max-age=60, max-age=0', 1, 1],
    ['with a life in quotes', 'Cache-Control: max-age="60"', 1, 1],
    ['with a life of more than is counted to', 'Cache-Control: max-age=99999999999999999999', 86_400, 1],
    ['case 7: that must not be kept', 'Cache-Control: no-store, max-age=60', 0, 2],
    ['that must be confirmed first', 'Cache-Control: no-cache, max-age=60', 0, 2],
    ['for one user', 'Cache-Control: private, max-age=60', 0, 2],
    ['for one user, by a list of headers', 'Cache-Control: private="X-A", max-age=60', 0, 2],
    ['whose shared life is longer', 'Cache-Control: max-age=1, s-maxage=60', 30, 1],
    ['whose shared life is shorter', 'Cache-Control: max-age=60, s-maxage=1', 30, 2],
    ['that was old when it came', 'Cache-Control: max-age=60 / Age: 50', 10, 2],
    ['that was old when it came, but not too old', 'Cache-Control: max-age=60 / Age: 50', 9, 1],
    ['with a directive in capitals', 'cache-control: MAX-AGE=60', 1, 1],
    ['with words nobody knows', 'Cache-Control: immutable, x="max-age=0, no-store", max-age=60', 1, 1],
  ] as const) {
    it(`asks ${calls === 1 ? 'once' : 'again'} for an answer ${what}`, async () => {
      equal(await callsOf(headers, seconds), calls);
    });
  }

  it('counts from the Date of the answer, and from now where that is in the future or missing', async () => {
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

  it('counts to Expires where no life is said, and nothing for one that cannot be read', async () => {
    equal(await callsOf(`Date: ${dateIn(0)} / Expires: ${dateIn(60)}`, 59), 1);
    pass(10_000);
    bench.requests.length = 0;
    equal(await callsOf('Expires: 0', 0), 2);
    pass(10_000);
    bench.requests.length = 0;
    equal(await callsOf(`Cache-Control: max-age=0 / Expires: ${dateIn(60)}`, 1), 2);
  });

  for (const [what, asking, seconds, calls] of [
    ['that wants it confirmed', 'Cache-Control: no-cache', 0, 2],
    ['that wants it younger', 'Cache-Control: max-age=9', 10, 2],
    ['that takes it older than it may get', 'Cache-Control: max-age=1000', 60, 2],
    ['that wants it to last', 'Cache-Control: min-fresh=30', 30, 2],
    ['that wants it to last, and it does', 'Cache-Control: min-fresh=29', 30, 1],
    ['that takes it stale for a while', 'Cache-Control: max-stale=10', 70, 1],
    ['that takes it stale, but not that stale', 'Cache-Control: max-stale=10', 71, 2],
    ['that takes it however stale', 'Cache-Control: max-stale', 10_000, 1],
  ] as const) {
    it(`asks ${calls === 1 ? 'once' : 'again'} for a request ${what}`, async () => {
      equal(await callsOf('Cache-Control: max-age=60', seconds, asking), calls);
    });
  }

  for (const strict of ['must-revalidate', 'proxy-revalidate', 's-maxage=60', 'no-cache']) {
    it(`never gives an answer stale that says ${strict}`, async () => {
      equal(await callsOf(`Cache-Control: max-age=60, ${strict}`, 61, 'Cache-Control: max-stale'), 2);
    });
  }

  it('keeps nothing of a request that does not want it', async () => {
    bench.given = { headers: 'Cache-Control: max-age=60' };
    await bench.ask('Cache-Control: no-store');
    await bench.ask();
    equal(bench.calls, 2);
  });

  it('answers 504 to a request that wants no call to be made, where nothing good enough is kept', async () => {
    const only = 'Cache-Control: only-if-cached';
    deepEqual([(await bench.ask(only)).status, bench.calls], [504, 0]);
    bench.given = { headers: 'Cache-Control: max-age=60' };
    await bench.ask();
    deepEqual([(await bench.ask(only)).status, bench.calls], [200, 1]);
    pass(61);
    deepEqual([(await bench.ask(only)).status, bench.calls], [504, 1]);
  });

  it('case 9: keeps answers of any status that have a life', async () => {
    bench.given = { status: 404, headers: 'Cache-Control: max-age=60', body: 'none' };
    await bench.ask();
    const { status, text } = await bench.ask();
    deepEqual([status, text, bench.calls], [404, 'none', 1]);
  });

  for (const [what, given] of [
    ['a part', { status: 206, headers: 'Cache-Control: max-age=60' }],
    ['a confirmation nobody asked for', { status: 304, headers: 'Cache-Control: max-age=60', body: null }],
    ['an answer that sets a cookie', { headers: 'Cache-Control: max-age=60, public / Set-Cookie: sid=1' }],
    ['an answer that depends on everything', { headers: 'Cache-Control: max-age=60 / Vary: *' }],
  ] as const) {
    it(`never keeps ${what}`, async () => {
      bench.given = given;
      await bench.ask();
      await bench.ask();
      equal(bench.calls, 2);
    });
  }

  describe('of one that was kept', () => {
    const old = 'Cache-Control: max-age=60 / ETag: "1" / Last-Modified: Mon, 01 Dec 2025 00:00:00 GMT / X-A: old';

    it('case 2: is confirmed by the backend, and takes its new headers', async () => {
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

    it("has the client's conditions in place of its own only during the backend call", async () => {
      bench.given = { headers: old };
      await bench.ask();
      pass(61);
      bench.given = { status: 304, body: null };
      const { reply } = await bench.ask('If-None-Match: "client"');
      equal(bench.saw('if-none-match'), '"1"');
      equal(reply.status, 200);
    });

    it('is replaced by another answer', async () => {
      bench.given = { headers: old };
      await bench.ask();
      pass(61);
      bench.given = { headers: old, body: 'news' };
      equal((await bench.ask()).text, 'news');
      equal((await bench.ask()).text, 'news');
      equal(bench.calls, 2);
    });

    it('is dropped for an answer that is not kept', async () => {
      bench.given = { headers: old };
      await bench.ask();
      pass(61);
      bench.given = { status: 404 };
      equal((await bench.ask()).status, 404);
      await bench.ask();
      equal(bench.saw('if-none-match'), undefined);
    });

    it('is revalidated every time without a lifetime', async () => {
      bench.given = { headers: 'ETag: "1"' };
      await bench.ask();
      bench.given = { status: 304, body: null };
      equal((await bench.ask()).text, 'body');
      equal(bench.saw('if-none-match'), '"1"');
    });

    for (const [what, kept, asking, seconds, status] of [
      ['case 8: stale-if-error', 'max-age=60, stale-if-error=600', '', 599, 200],
      ['stale-if-error that is over', 'max-age=60, stale-if-error=600', '', 600, 503],
      ['stale-if-error without an end', 'max-age=60, stale-if-error', '', 100_000, 200],
      ['the wish of the request', 'max-age=60', 'Cache-Control: stale-if-error=600', 599, 200],
      ['nothing of it', 'max-age=60', '', 61, 503],
      ['must-revalidate', 'max-age=60, stale-if-error=600, must-revalidate', '', 61, 503],
    ] as const) {
      it(`answers ${status} for a backend that fails after ${seconds} seconds, with ${what}`, async () => {
        bench.given = { headers: `Cache-Control: ${kept}` };
        await bench.ask();
        pass(seconds);
        bench.given = { status: 503 };
        equal((await bench.ask(asking)).status, status);
      });
    }
  });
});
