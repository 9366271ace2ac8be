import { deepEqual, equal } from 'node:assert/strict';
import { mock } from 'node:test';
import { plugin as noOp } from '../../../../plugins/encoding/no-op.ts';
import { Bench, dateIn, holdTime, pass } from './testbed.ts';

describe('range requests to qos/http-cache', () => {
  const bench = new Bench();
  beforeEach(async () => {
    holdTime();
    const raw = { endpoint: { output_encoding: 'no-op' }, plugins: [noOp] };
    await bench.open({}, raw);
    bench.given = {
      headers: `Cache-Control: max-age=60 / Content-Type: text/plain / ETag: "1" / Last-Modified: ${dateIn(-60)} / Date: ${dateIn(0)}`,
      body: '0123456789',
    };
    await bench.ask();
  });
  afterEach(async () => {
    await bench.close();
    bench.requests.length = 0;
    mock.timers.reset();
  });

  const part = async (headers: string) => {
    const { status, text, reply } = await bench.ask(headers);
    return [status, text, reply.headers.get('content-range')];
  };

  for (const [range, text, span] of [
    ['bytes=0-3', '0123', '0-3'],
    ['bytes=4-', '456789', '4-9'],
    ['bytes=-2', '89', '8-9'],
    ['bytes=-100', '0123456789', '0-9'],
    ['bytes=8-100', '89', '8-9'],
    ['bytes=9-9', '9', '9-9'],
    ['Bytes= 0-0 ', '0', '0-0'],
  ] as const) {
    it(`with ${range} return a part of the stored response`, async () => {
      deepEqual(await part(`Range: ${range}`), [206, text, `bytes ${span}/10`]);
      equal(bench.calls, 1);
    });
  }

  for (const range of ['bytes=10-', 'bytes=100-200', 'bytes=-0', `bytes=${'9'.repeat(400)}-`]) {
    it(`with ${range.slice(0, 20)} return 416`, async () => {
      const { status, text, reply } = await bench.ask(`Range: ${range}`);
      deepEqual([status, text, reply.headers.get('content-range')], [416, '', 'bytes */10']);
      equal(reply.headers.get('content-type'), undefined);
      equal(bench.calls, 1);
    });
  }

  for (const range of ['bytes=0-1,4-5', 'bytes=5-2', 'bytes=-', 'bytes=a-b', 'bytes', 'lines=0-1', 'bytes=0-1;q']) {
    it(`with ${range} return the whole response`, async () => {
      deepEqual(await part(`Range: ${range}`), [200, '0123456789', undefined]);
      equal(bench.calls, 1);
    });
  }

  it('keep the headers of the whole response, with Age and without Content-Length', async () => {
    pass(5);
    const { reply, age } = await bench.ask('Range: bytes=0-1');
    const names = ['etag', 'content-type', 'cache-control', 'content-length'];
    deepEqual(
      [age, ...names.map((name) => reply.headers.get(name))],
      ['5', '"1"', 'text/plain', 'max-age=60', undefined],
    );
  });

  for (const [condition, status] of [
    ['"1"', 206],
    ['"2"', 200],
    ['W/"1"', 200],
    ['Wed, 31 Dec 2025 23:59:00 GMT', 206],
    ['Wed, 31 Dec 2025 23:59:01 GMT', 200],
    ['yesterday', 200],
  ] as const) {
    it(`return ${status} with If-Range: ${condition}`, async () => {
      equal((await part(`Range: bytes=0-1 / If-Range: ${condition}`))[0], status);
    });
  }

  it('never match a weak entity tag, or a date within a second of the response', async () => {
    bench.given = {
      headers: `Cache-Control: max-age=60 / ETag: W/"1" / Last-Modified: ${dateIn(0)} / Date: ${dateIn(0)}`,
    };
    await bench.ask('', { target: '/weak' });
    for (const condition of ['W/"1"', dateIn(0)]) {
      const { status } = await bench.ask(`Range: bytes=0-1 / If-Range: ${condition}`, { target: '/weak' });
      equal(status, 200);
    }
  });

  it('return 304 for a matching condition before the range is evaluated', async () => {
    equal((await part('Range: bytes=0-1 / If-None-Match: "1"'))[0], 304);
  });

  it('do not change the stored response', async () => {
    await part('Range: bytes=3-4');
    deepEqual(await part(''), [200, '0123456789', undefined]);
  });

  it('are forwarded to the backend without a fresh stored response, and their responses are not stored', async () => {
    bench.given = ({ headers }) => ({
      status: headers.has('range') ? 206 : 200,
      headers: 'Cache-Control: max-age=60 / Content-Range: bytes 0-1/4',
      body: 'pa',
    });
    pass(100);
    for (const target of ['/x', '/y', '/y']) equal((await bench.ask('Range: bytes=0-1', { target })).status, 206);
    equal(bench.calls, 4);
    equal(bench.saw('range'), 'bytes=0-1');
  });

  it('return the whole response if its encoding is decoded, and for HEAD', async () => {
    equal((await bench.ask('Range: bytes=0-1', { method: 'HEAD' })).status, 200);
    await bench.open();
    await bench.ask();
    deepEqual(await part('Range: bytes=0-1'), [200, '0123456789', undefined]);
  });

  it('return no part of a response with a status other than 200', async () => {
    bench.given = { status: 404, headers: 'Cache-Control: max-age=60', body: 'none' };
    await bench.ask('', { target: '/404' });
    equal((await bench.ask('Range: bytes=0-1', { target: '/404' })).status, 404);
  });
});
