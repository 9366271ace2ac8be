import { deepEqual, equal } from 'node:assert/strict';
import { mock } from 'node:test';
import { Bench, type Given, holdTime, pass } from './testbed.ts';

/** A backend response, the time and headers of the second request, and whether it receives the stored response. */
interface Case {
  readonly status?: number;
  /** Seconds between the two requests. */
  readonly after?: number;
  readonly first?: string;
  readonly later?: string;
}

const day = 86_400;

/** Cases by topic: response headers, outcome of the second request, and special conditions. */
const cases: Record<
  string,
  readonly (readonly [headers: string, outcome: 'hit' | 'miss' | 'revalidation', what?: Case])[]
> = {
  'the lifetime of a response': [
    ['Cache-Control: max-age=10', 'hit', { after: 9 }],
    ['Cache-Control: max-age=10', 'miss', { after: 10 }],
    ['Cache-Control: s-maxage=10, max-age=1', 'hit', { after: 9 }],
    ['Cache-Control: s-maxage=0, max-age=100', 'miss'],
    ['Cache-Control: s-maxage=none, max-age=100', 'miss'],
    ['Cache-Control: max-age=10 / Expires: Thu, 01 Jan 2099 00:00:00 GMT', 'miss', { after: 11 }],
    ['Cache-Control: max-age=10 / Expires: 0', 'hit'],
    ['Expires: Thu, 01 Jan 2026 00:01:00 GMT / Date: Thu, 01 Jan 2026 00:00:00 GMT', 'hit', { after: 59 }],
    ['Expires: Thu, 01 Jan 2026 00:01:00 GMT / Date: Thu, 01 Jan 2026 00:00:00 GMT', 'miss', { after: 60 }],
    // The lifetime is the difference of Expires and Date, so that a wrong clock of the backend has no effect.
    ['Expires: Wed, 01 Jan 2025 00:01:00 GMT / Date: Wed, 01 Jan 2025 00:00:00 GMT', 'miss'],
    ['Expires: Thu, 01 Jan 2026 00:05:00 GMT / Date: Thu, 01 Jan 2026 00:06:40 GMT', 'miss'],
    ['Expires: Thu, 01 Jan 2026 00:00:20 GMT / Date: Thu, 01 Jan 2026 00:00:10 GMT', 'hit', { after: 9 }],
    ['Expires: Thu, 01 Jan 2026 00:00:20 GMT / Date: Thu, 01 Jan 2026 00:00:10 GMT', 'miss', { after: 10 }],
    ['Expires: Thu, 01 Jan 2026 00:00:20 GMT / Date: Thu, 01 Jan 2026 00:00:10 GMT / Age: 15', 'miss'],
    ['Expires: Thu, 01 Jan 2026 00:00:00 GMT', 'miss'],
    // The response is not reused, because no lifetime is derived from Last-Modified.
    ['Last-Modified: Wed, 01 Jan 2020 00:00:00 GMT', 'revalidation'],
    ['Cache-Control: public', 'miss'],
    ['Cache-Control: immutable', 'miss'],
  ],
  'invalid dates': [
    ['Expires: 0', 'miss'],
    ['Expires: -1', 'miss'],
    ['Expires: 2099', 'miss'],
    ['Expires: 2099-01-01T00:00:00Z', 'miss'],
    ['Expires: Thu, 01 Jan 2099 00:00:00', 'miss'],
    ['Expires: Thu, 01 Jan 2099 00:00:00 UTC', 'miss'],
    ['Expires: Thu, 01 Jan 2099 00:00:00 +0100', 'miss'],
    ['Expires: 01 Jan 2099 00:00:00 GMT', 'miss'],
    ['Expires: Thu, 1 Jan 2099 00:00:00 GMT', 'miss'],
    ['Expires: Thu, 01 Jan 2099 00:00:00 GMT; x', 'miss'],
    ['Expires: Thu, 01 Jan 2020 00:00:00 GMT / Expires: Thu, 01 Jan 2099 00:00:00 GMT', 'miss'],
    ['Expires: Thursday, 01-Jan-26 00:01:00 GMT', 'hit'],
    ['Expires: Thu Jan  1 00:01:00 2026', 'hit'],
    ['Expires: thu, 01 jan 2026 00:01:00 gmt', 'hit'],
    ['Date: yesterday / Cache-Control: max-age=10', 'hit', { after: 9 }],
    ['Date: yesterday / Cache-Control: max-age=10', 'miss', { after: 10 }],
  ],
  'the syntax of directives': [
    ['Cache-Control: MAX-AGE=10', 'hit'],
    ['Cache-Control: max-age="10"', 'hit'],
    ["Cache-Control: max-age='10'", 'miss'],
    ['Cache-Control: max-age=10.5', 'miss'],
    ['Cache-Control: max-age=-10', 'miss'],
    ['Cache-Control: max-age=+10', 'miss'],
    ['Cache-Control: max-age=10s', 'miss'],
    ['Cache-Control: max-age=', 'miss'],
    ['Cache-Control: max-age', 'miss'],
    ['Cache-Control: max-age=0010', 'hit', { after: 9 }],
    ['Cache-Control: max-age=2147483648', 'hit', { after: 1000 * day }],
    [`Cache-Control: max-age=${'9'.repeat(300)}`, 'hit', { after: 1000 * day }],
    ['Cache-Control: ,, max-age=10,,', 'hit'],
    ['Cache-Control: a="no-store", max-age=10', 'hit'],
    ['Cache-Control: a="x, no-store, y", max-age=10', 'hit'],
    ['Cache-Control: a="\\", max-age=10', 'miss'],
    ['Cache-Control: a="\\", max-age=10"', 'miss'],
    ['Cache-Control: xmax-age=10', 'miss'],
    ['Cache-Control: max-age=10, max-age=0', 'hit'],
    ['Cache-Control: max-age=0, max-age=10', 'miss'],
    ['Cache-Control: max-age=10 / Cache-Control: no-store', 'miss'],
    ['Cache-Control: max-age=10, No-Store="x"', 'miss'],
    ['Cache-Control: max-age=10, private=""', 'miss'],
    [`Cache-Control: max-age=10, ${'x, '.repeat(2000)}no-store`, 'miss'],
    ['Cache-Control: max-age=10, unheard-of=1', 'hit'],
    ['Pragma: no-cache / Cache-Control: max-age=10', 'hit'],
  ],
  'responses that must be revalidated': [
    ['Cache-Control: no-cache / ETag: "1"', 'revalidation'],
    ['Cache-Control: no-cache="Set-Cookie", max-age=10 / ETag: "1"', 'revalidation'],
    ['Cache-Control: max-age=10 / ETag: "1"', 'revalidation', { after: 10 }],
    ['Cache-Control: max-age=10 / ETag: W/"1"', 'revalidation', { after: 10 }],
    [
      'Cache-Control: max-age=10, must-revalidate / ETag: "1"',
      'revalidation',
      { after: 10, later: 'Cache-Control: max-stale' },
    ],
    [
      'Cache-Control: max-age=10, proxy-revalidate / ETag: "1"',
      'revalidation',
      { after: 10, later: 'Cache-Control: max-stale' },
    ],
    ['Cache-Control: s-maxage=10 / ETag: "1"', 'revalidation', { after: 10, later: 'Cache-Control: max-stale' }],
    ['Cache-Control: max-age=10 / ETag: "1"', 'revalidation', { later: 'Cache-Control: no-cache' }],
    ['Cache-Control: max-age=10 / ETag: "1"', 'revalidation', { after: 1, later: 'Cache-Control: max-age=0' }],
  ],
  ages: [
    ['Cache-Control: max-age=10 / Age: 9', 'hit'],
    ['Cache-Control: max-age=10 / Age: 10', 'miss'],
    ['Cache-Control: max-age=10 / Age: 4', 'miss', { after: 6 }],
    ['Cache-Control: max-age=10 / Age: 20, 0', 'miss'],
    ['Cache-Control: max-age=10 / Age: 20 / Age: 0', 'miss'],
    ['Cache-Control: max-age=10 / Age: -20', 'hit'],
    ['Cache-Control: max-age=10 / Age: 20.0', 'hit'],
    ['Cache-Control: max-age=10 / Age: old', 'hit'],
    [`Cache-Control: max-age=10 / Age: ${'9'.repeat(400)}`, 'miss'],
    ['Cache-Control: max-age=10 / Date: Wed, 31 Dec 2025 23:59:50 GMT', 'miss'],
    ['Cache-Control: max-age=10 / Date: Wed, 31 Dec 2025 23:59:51 GMT', 'hit'],
    ['Cache-Control: max-age=10 / Date: Wed, 31 Dec 2025 23:59:55 GMT / Age: 1', 'miss', { after: 5 }],
    ['Cache-Control: max-age=10 / Date: Fri, 01 Jan 2027 00:00:00 GMT', 'miss', { after: 10 }],
  ],
  'stale responses': [
    ['Cache-Control: max-age=10', 'hit', { after: 15, later: 'Cache-Control: max-stale=5' }],
    ['Cache-Control: max-age=10', 'miss', { after: 16, later: 'Cache-Control: max-stale=5' }],
    ['Cache-Control: max-age=10', 'miss', { after: 5, later: 'Cache-Control: min-fresh=5' }],
    ['Cache-Control: max-age=10', 'hit', { after: 4, later: 'Cache-Control: min-fresh=5' }],
    ['Cache-Control: max-age=10, must-revalidate', 'miss', { after: 15, later: 'Cache-Control: max-stale' }],
  ],
  Authorization: [
    ['Cache-Control: max-age=10', 'miss', { first: 'Authorization: a' }],
    ['Expires: Thu, 01 Jan 2099 00:00:00 GMT', 'miss', { first: 'Authorization: a' }],
    ['Cache-Control: max-age=10, public', 'hit', { first: 'Authorization: a', later: 'Authorization: b' }],
    ['Cache-Control: max-age=10, must-revalidate', 'hit', { first: 'Authorization: a' }],
    ['Cache-Control: s-maxage=10', 'hit', { first: 'Authorization: a' }],
    ['Cache-Control: max-age=10, proxy-revalidate', 'miss', { first: 'Authorization: a' }],
    [
      'Cache-Control: max-age=10, public / Vary: Authorization',
      'miss',
      { first: 'Authorization: a', later: 'Authorization: b' },
    ],
  ],
  Vary: [
    ['Cache-Control: max-age=10 / Vary: A', 'hit', { first: 'A: 1', later: 'A: 1' }],
    ['Cache-Control: max-age=10 / Vary: A', 'miss', { first: 'A: 1', later: 'A: 2' }],
    ['Cache-Control: max-age=10 / Vary: A', 'miss', { first: 'A: 1' }],
    ['Cache-Control: max-age=10 / Vary: A', 'miss', { later: 'A: ' }],
    ['Cache-Control: max-age=10 / Vary: a', 'hit', { first: 'A: 1', later: 'a: 1' }],
    ['Cache-Control: max-age=10 / Vary: A, B', 'miss', { first: 'A: 1 / B: 1', later: 'A: 1 / B: 2' }],
    ['Cache-Control: max-age=10 / Vary: A / Vary: B', 'miss', { first: 'A: 1 / B: 1', later: 'A: 1 / B: 2' }],
    ['Cache-Control: max-age=10 / Vary: A, B', 'hit', { first: 'A: 1 / B: 1', later: 'B: 1 / A: 1' }],
    ['Cache-Control: max-age=10 / Vary: A', 'hit', { first: 'A: 1,2', later: 'A: 1 / A: 2' }],
    ['Cache-Control: max-age=10 / Vary: A', 'miss', { first: 'A: 1, 2', later: 'A: 2, 1' }],
    ['Cache-Control: max-age=10 / Vary: *', 'miss'],
    ['Cache-Control: max-age=10 / Vary: A, *', 'miss'],
    ['Cache-Control: max-age=10 / Vary: A / Vary: *', 'miss'],
    ['Cache-Control: max-age=10 / Vary: ,,', 'hit'],
  ],
  statuses: [
    ...[200, 203, 204, 299, 301, 302, 307, 308, 400, 404, 410, 499, 500, 501, 503, 599].map(
      (status) => ['Cache-Control: max-age=10', 'hit', { status }] as const,
    ),
    ['Cache-Control: max-age=10 / Content-Range: bytes 0-1/4', 'miss', { status: 206 }],
    ['Cache-Control: max-age=10, must-understand', 'hit', { status: 404 }],
    ['Cache-Control: max-age=10, must-understand', 'miss', { status: 499 }],
    // The response is not stored, because without a lifetime only a 200 can be revalidated.
    ['ETag: "1"', 'miss', { status: 404 }],
  ],
};

describe('qos/http-cache according to RFC 9111', () => {
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

  for (const [topic, rows] of Object.entries(cases)) {
    describe(`on ${topic}:`, () => {
      for (const [headers, outcome, { status = 200, after = 0, first = '', later = '' } = {}] of rows) {
        const particular = [
          status === 200 ? '' : `status ${status}`,
          first && `first request with ${first}`,
          after > 0 ? `after ${after} s` : '',
          later && `second request with ${later}`,
        ].filter((text) => text !== '');
        it([`a response with ${headers.slice(0, 120)} causes a ${outcome}`, ...particular].join(', '), async () => {
          bench.given = ({ headers: requested }) =>
            requested.has('if-none-match') || requested.has('if-modified-since')
              ? { status: 304, body: null }
              : { status, headers, body: `body ${bench.calls}` };
          equal((await bench.ask(first)).text, 'body 1');
          pass(after);
          const second = await bench.ask(later);
          const isConfirmed = bench.calls === 2 && second.text === 'body 1';
          equal(isConfirmed ? 'revalidation' : bench.calls === 1 ? 'hit' : 'miss', outcome);
          equal(second.status, status);
        });
      }
    });
  }

  it('calculates the age from Age, the response delay and the storage time', async () => {
    bench.given = () => {
      pass(2);
      return { headers: 'Cache-Control: max-age=100 / Age: 10' };
    };
    await bench.ask();
    pass(5);
    equal((await bench.ask()).age, '17');
  });

  it('uses the headers of a revalidation for a stored response', async () => {
    bench.given = { headers: 'Cache-Control: max-age=10 / ETag: "1" / X-Of: answer / Content-Type: a/b' };
    await bench.ask();
    pass(10);
    const confirmation = 'Cache-Control: max-age=100 / Age: 3 / X-Of: confirmation / Content-Type: c/d / ETag: "2"';
    bench.given = { status: 304, headers: confirmation, body: null };
    await bench.ask();
    pass(50);
    const { age, text, reply } = await bench.ask();
    const named = ['x-of', 'content-type', 'etag', 'cache-control'].map((name) => reply.headers.get(name));
    deepEqual([age, text, ...named], ['53', 'body', 'confirmation', 'a/b', '"2"', 'max-age=100']);
    equal(bench.calls, 2);
  });

  for (const [what, given, target, calls] of [
    ['the same URL', { status: 204 }, '/x', 2],
    ['the same URL, after a redirect', { status: 303 }, '/x', 2],
    ['Location', { status: 201, headers: 'Location: http://h1/y' }, '/y', 2],
    ['a relative Location', { headers: 'Location: y' }, '/y', 2],
    ['Content-Location', { headers: 'Content-Location: /y' }, '/y', 2],
    ['no Location with another origin', { headers: 'Location: http://h2/y' }, '/y', 1],
    ['no malformed Location', { headers: 'Location: http://[' }, '/y', 1],
    ['nothing after a failure', { status: 404 }, '/x', 1],
    ['nothing after an error of the backend', { status: 500, headers: 'Location: /y' }, '/y', 1],
  ] as const) {
    it(`invalidates after an unsafe method: ${what}`, async () => {
      for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'M-SEARCH']) {
        bench.given = ({ method: requested }): Given =>
          requested === 'GET' ? { headers: 'Cache-Control: max-age=60' } : given;
        await bench.ask('', { target });
        await bench.ask('', { method });
        bench.requests.length = 0;
        await bench.ask('', { target });
        equal(bench.calls, calls - 1, method);
      }
    });
  }

  it('does not store responses that were requested before an unsafe method', async () => {
    let arrive = (_given: Given): void => {};
    bench.given = ({ method }) =>
      method === 'GET' ? new Promise<Given>((resolve) => (arrive = resolve)) : { status: 204, body: null };
    const asking = bench.ask();
    await bench.ask('', { method: 'DELETE' });
    arrive({ headers: 'Cache-Control: max-age=60', body: 'old' });
    equal((await asking).text, 'old');
    bench.given = { headers: 'Cache-Control: max-age=60', body: 'new' };
    equal((await bench.ask()).text, 'new');
    equal((await bench.ask()).text, 'new');
    equal(bench.calls, 3);
  });
});
