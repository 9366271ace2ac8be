import { deepEqual, equal, ok } from 'node:assert/strict';
import { mock } from 'node:test';
import { plugin as noOp } from '../../../../plugins/encoding/no-op.ts';
import { httpDate } from '../../../../plugins/shared/http-headers/date.ts';
import { Bench, holdTime } from './testbed.ts';

describe('conditional requests to qos/http-cache', () => {
  const bench = new Bench();
  afterEach(async () => {
    await bench.close();
    bench.requests.length = 0;
    mock.timers.reset();
  });

  const lm = 'Last-Modified: Wed, 31 Dec 2025 00:00:00 GMT';
  beforeEach(async () => {
    holdTime();
    await bench.open({}, { endpoint: { output_encoding: 'no-op' }, plugins: [noOp] });
  });
  for (const [kept, requested, status] of [
    ['ETag: "a"', 'If-None-Match: "a"', 304],
    ['ETag: "a"', 'If-None-Match: W/"a"', 304],
    ['ETag: W/"a"', 'If-None-Match: "a"', 304],
    ['ETag: "a,b"', 'If-None-Match: "x", "a,b"', 304],
    ['ETag: "a"', 'If-None-Match: "x" / If-None-Match: "a"', 304],
    ['ETag: "a"', 'If-None-Match: a', 200],
    ['ETag: "a"', 'If-None-Match: "A"', 200],
    ['X: 1', 'If-None-Match: "a"', 200],
    ['X: 1', 'If-None-Match: *', 304],
    [`ETag: "a" / ${lm}`, 'If-None-Match: "b" / If-Modified-Since: Thu, 01 Jan 2026 00:00:00 GMT', 200],
    [lm, 'If-Modified-Since: Wed, 31 Dec 2025 00:00:00 GMT', 304],
    [lm, 'If-Modified-Since: Tue, 30 Dec 2025 00:00:00 GMT', 200],
    [lm, 'If-Modified-Since: 2026', 200],
    ['Date: Wed, 31 Dec 2025 23:59:59 GMT', 'If-Modified-Since: Thu, 01 Jan 2026 00:00:00 GMT', 304],
  ] as const) {
    it(`for a response with ${kept}: a request with ${requested} returns ${status}`, async () => {
      bench.given = { headers: `Cache-Control: max-age=60 / ${kept}` };
      await bench.ask();
      const { status: given, text } = await bench.ask(requested);
      deepEqual([given, text, bench.calls], [status, status === 304 ? '' : 'body', 1]);
    });
  }

  it('accept dates with two-digit years at most fifty years in the future', () => {
    equal(httpDate('Friday, 01-Jan-27 00:00:00 GMT'), Date.UTC(2027, 0, 1));
    equal(httpDate('Thursday, 01-Jan-98 00:00:00 GMT'), Date.UTC(1998, 0, 1));
    ok(Number.isNaN(httpDate(undefined)));
  });
});
