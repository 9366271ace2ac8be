import { deepEqual, equal } from 'node:assert/strict';
import { mock } from 'node:test';
import { HeaderBag, Reply } from '#contract';
import { plugin as noOp } from '../../../../plugins/encoding/no-op.ts';
import { Bench, dateIn, holdTime, pass, replyWith } from './testbed.ts';

describe('response variants in qos/http-cache', () => {
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

  /** Number of backend calls for consecutive requests with these headers. */
  async function callsOf(headers: string, ...asking: string[]): Promise<number> {
    bench.requests.length = 0;
    bench.given = ({ headers: { list } }) => ({ headers, body: list.join() });
    for (const each of asking) await bench.ask(each);
    return bench.calls;
  }

  it('include one response for each URL', async () => {
    bench.given = ({ target }) => ({ headers: 'Cache-Control: max-age=60', body: target });
    for (const target of ['/x?a=1', '/x?a=2', '/x?a=1']) equal((await bench.ask('', { target })).text, target);
    await bench.ask('', { origin: 'http://h2' });
    equal(bench.calls, 3);
  });

  it('include one response for each combination of values of the headers that Vary lists', async () => {
    const en = 'Accept-Language: en';
    const fr = 'Accept-Language: fr';
    bench.given = ({ headers }) => ({
      headers: 'Cache-Control: max-age=60 / Vary: Accept-Language',
      body: headers.get('accept-language') ?? 'none',
    });
    const texts = [];
    for (const each of [en, fr, en, '', fr, '']) texts.push((await bench.ask(each)).text);
    deepEqual([texts, bench.calls], [['en', 'fr', 'en', 'none', 'fr', 'none'], 3]);
  });

  it('match lists of names in several Vary headers, and values regardless of white space', async () => {
    const vary = 'Cache-Control: max-age=60 / Vary: accept, , X-B / vary: X-A';
    equal(await callsOf(vary, 'X-A: 1,2 / X-B: b', 'X-A: 1 / X-A: 2 / X-B: b', 'x-a: 1 , 2 / x-b: b'), 1);
    equal(await callsOf(vary, 'X-A: 9 / X-B: b', 'X-A: 9 / X-B: c'), 2);
  });

  it('are selected by their age if several match, the latest first', async () => {
    let turn = 0;
    bench.given = () => ({ headers: `Cache-Control: max-age=60 / Vary: ${turn++ ? 'X-B' : 'X-A'}`, body: `${turn}` });
    await bench.ask('X-A: 1');
    await bench.ask('X-A: 2 / X-B: 1');
    equal((await bench.ask('X-A: 1 / X-B: 1')).text, '2');
  });

  it('are limited in number for each URL, without evicting others', async () => {
    bench.given = { headers: 'Cache-Control: max-age=60 / Vary: X-A' };
    await bench.ask('', { target: '/other' });
    for (let each = 0; each < 100; each++) await bench.ask(`X-A: ${each}`);
    bench.requests.length = 0;
    await bench.ask('X-A: 99');
    await bench.ask('', { target: '/other' });
    equal(bench.calls, 0);
    await bench.ask('X-A: 0');
    equal(bench.calls, 1);
  });

  it('are not stored if Vary lists too many headers', async () => {
    const names = Array.from({ length: 40 }, (_, at) => `X-${at}`).join();
    equal(await callsOf(`Cache-Control: max-age=60 / Vary: ${names}`, '', ''), 2);
  });

  it('include encoded bodies for clients that accept the encoding', async () => {
    const encoded = 'Cache-Control: max-age=60 / Content-Encoding: br';
    equal(await callsOf(encoded, 'Accept-Encoding: br', '', 'Accept-Encoding: br'), 2);
  });

  for (const [name, values] of [
    ['X-Forwarded-Host', ['evil.example', 'api.example']],
    ['x-forwarded-proto', ['http', 'https']],
    ['X-Original-URL', ['/admin', '/']],
    ['X-HTTP-Method-Override', ['DELETE', 'GET']],
    ['Forwarded', ['host=evil', 'host=api']],
  ] as const) {
    it(`never mix responses for different values of ${name}, even if Vary does not list it`, async () => {
      bench.given = ({ headers }) => ({
        headers: 'Cache-Control: max-age=60, public',
        body: headers.get(name.toLowerCase()) ?? 'none',
      });
      const [evil, good] = values;
      deepEqual((await bench.ask(`${name}: ${evil}`)).text, evil);
      deepEqual((await bench.ask(`${name}: ${good}`)).text, good);
      deepEqual((await bench.ask('')).text, 'none');
      deepEqual((await bench.ask(`${name}: ${evil}`)).text, evil);
      equal(bench.calls, 3);
    });
  }

  it("do not depend on the client's address and user agent", async () => {
    const kept = 'Cache-Control: max-age=60';
    equal(await callsOf(kept, 'X-Forwarded-For: 1.1.1.1 / User-Agent: a', 'X-Forwarded-For: 2.2.2.2'), 1);
  });

  for (const [what, kept, calls] of [
    ['a response without a matching directive', 'max-age=60', 2],
    ['a public response', 'max-age=60, public', 1],
    ['a response with s-maxage', 's-maxage=60', 1],
    ['a response with must-revalidate', 'max-age=60, must-revalidate', 1],
  ] as const) {
    it(`cause ${calls === 1 ? 'one call' : 'a call for each user'} with Authorization for ${what}`, async () => {
      equal(await callsOf(`Cache-Control: ${kept}`, 'Authorization: a', 'Authorization: b'), calls);
    });
  }

  it('are separate for each Cookie header unless the response is public', async () => {
    const kept = 'Cache-Control: max-age=60';
    equal(await callsOf(kept, 'Cookie: sid=1', 'Cookie: sid=2', '', 'Cookie: sid=1'), 3);
    pass(100);
    equal(await callsOf(`${kept}, public`, 'Cookie: sid=1', 'Cookie: sid=2', ''), 1);
  });

  for (const [what, sent, asking] of [
    ['a method other than GET and HEAD', { method: 'POST' }, ''],
    ['a request with a body', { body: '{}' }, ''],
    ['an If-Match condition', {}, 'If-Match: "1"'],
    ['an If-Unmodified-Since condition', {}, 'If-Unmodified-Since: Mon, 01 Dec 2025 00:00:00 GMT'],
  ] as const) {
    it(`are neither read nor stored for ${what}`, async () => {
      bench.given = { headers: 'Cache-Control: max-age=60' };
      for (let turn = 0; turn < 2; turn++) await bench.ask(asking, sent);
      await bench.ask();
      await bench.ask(asking, sent);
      equal(bench.calls, 4);
    });
  }

  it('are separate for HEAD', async () => {
    bench.given = ({ method }) => ({
      headers: 'Cache-Control: max-age=60 / Content-Length: 4',
      body: method === 'HEAD' ? null : 'body',
    });
    for (let turn = 0; turn < 2; turn++) {
      const { reply } = await bench.ask('', { method: 'HEAD' });
      deepEqual([reply.body, reply.headers.get('content-length')], [null, '4']);
      equal((await bench.ask()).text, 'body');
    }
    equal(bench.calls, 2);
  });

  it('are invalidated for a changed URL and for the URLs in its response headers', async () => {
    const kept = 'Cache-Control: max-age=60';
    bench.given = { headers: kept };
    const addresses = ['/x', '/made', '/content', '/other'];
    for (const target of addresses) await bench.ask('', { target });
    await bench.ask('', { origin: 'http://h2', target: '/made' });
    bench.given = { status: 201, headers: 'Location: http://h1/made / Content-Location: /content' };
    await bench.ask('', { method: 'POST' });
    bench.given = { status: 200, headers: 'Location: http://h2/made' };
    await bench.ask('', { method: 'PUT' });
    bench.requests.length = 0;
    bench.given = { headers: kept };
    for (const target of addresses) await bench.ask('', { target });
    await bench.ask('', { origin: 'http://h2', target: '/made' });
    deepEqual(
      bench.requests.map(({ target }) => target),
      ['/x', '/made', '/content'],
    );
  });

  it('are not invalidated by failed changes and safe methods', async () => {
    bench.given = { headers: 'Cache-Control: max-age=60' };
    await bench.ask();
    bench.given = { status: 409 };
    await bench.ask('', { method: 'POST' });
    bench.given = {};
    await bench.ask('', { method: 'OPTIONS' });
    equal((await bench.ask()).status, 200);
    equal(bench.calls, 3);
  });

  describe('returned without decoding', () => {
    const tagged = `Cache-Control: max-age=60 / ETag: W/"1" / Last-Modified: Mon, 01 Dec 2025 00:00:00 GMT / Content-Length: 4`;
    const open = () => bench.open({}, { endpoint: { output_encoding: 'no-op' }, plugins: [noOp] });

    for (const [asking, status] of [
      ['If-None-Match: "1"', 304],
      ['If-None-Match: "0", W/"1"', 304],
      ['If-None-Match: *', 304],
      ['If-None-Match: "2"', 200],
      ['If-Modified-Since: Mon, 01 Dec 2025 00:00:00 GMT', 304],
      ['If-Modified-Since: Sun, 30 Nov 2025 00:00:00 GMT', 200],
      ['If-None-Match: "2" / If-Modified-Since: Mon, 01 Dec 2025 00:00:00 GMT', 200],
      ['If-Modified-Since: yesterday', 200],
    ] as const) {
      it(`return ${status} for ${asking}`, async () => {
        await open();
        bench.given = { headers: tagged };
        await bench.ask();
        const { reply } = await bench.ask(asking);
        deepEqual([reply.status, bench.calls], [status, 1]);
        if (status === 304) deepEqual([reply.body, reply.headers.get('etag')], [null, 'W/"1"']);
      });
    }

    it('return 304 after a revalidation by the backend', async () => {
      await open();
      bench.given = { headers: tagged };
      await bench.ask();
      pass(61);
      bench.given = { status: 304, headers: `Date: ${dateIn(0)}`, body: null };
      equal((await bench.ask('If-None-Match: "1"')).status, 304);
    });

    it('never return 304 if the response is decoded', async () => {
      bench.given = { headers: tagged };
      await bench.ask();
      equal((await bench.ask('If-None-Match: "1"')).status, 200);
    });
  });

  it('are copies, so that changes by one request do not affect another', async () => {
    bench.given = { headers: 'Cache-Control: max-age=60 / X-A: 1' };
    await bench.ask();
    const first = await bench.send();
    first.headers.set('X-A', 'changed');
    first.headers.append('Set-Cookie', 'mine=1');
    first.status = 500;
    const { reply } = await bench.ask();
    deepEqual([reply.status, reply.headers.get('x-a'), reply.headers.get('set-cookie')], [200, '1', undefined]);
  });

  it('are not stored if the response is data or was not requested', async () => {
    bench.given = () => Reply.data({ a: 1 });
    await bench.ask();
    bench.given = () => Object.assign(replyWith({ headers: 'Cache-Control: max-age=60' }), { skipped: true });
    await bench.ask();
    bench.given = () => Reply.raw(200, new HeaderBag(), null);
    await bench.ask();
    equal(bench.calls, 3);
  });
});
