import { deepEqual, equal } from 'node:assert/strict';
import { mock } from 'node:test';
import { BackendError, ByteStream, Call, CancelledError, Reply } from '#contract';
import { until } from '../../../support/conditions.ts';
import { Bench, holdTime, pass, replyWith } from './testbed.ts';

/** A backend that responds to one request at a time when the test allows it. */
class Held {
  readonly waiting: ((reply: Reply) => void)[] = [];

  readonly answer = (_request: unknown, call: Call): Promise<Reply> =>
    new Promise((resolve) => {
      this.waiting.push(resolve);
      call.onCancel((reason) => resolve(Reply.failed(reason as CancelledError)));
    });
}

const turns = async (count = 5) => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
};

const kept = 'Cache-Control: max-age=60';

describe('qos/http-cache with concurrent requests', () => {
  const bench = new Bench();
  let held: Held;
  beforeEach(async () => {
    holdTime();
    await bench.open();
    held = new Held();
    bench.given = held.answer;
  });
  afterEach(async () => {
    await bench.close();
    bench.requests.length = 0;
    mock.timers.reset();
  });

  it('calls the backend once for all of them', async () => {
    const asking = Array.from({ length: 50 }, () => bench.ask());
    await turns();
    equal(bench.calls, 1);
    held.waiting[0]!(replyWith({ headers: kept }));
    deepEqual(new Set((await Promise.all(asking)).map(({ text }) => text)), new Set(['body']));
    equal(bench.calls, 1);
  });

  it('calls the backend once for each variant', async () => {
    const asking = ['en', 'fr', 'en', 'fr', 'en'].map((each) => bench.ask(`Accept-Language: ${each}`));
    await turns();
    held.waiting[0]!(replyWith({ headers: `${kept} / Vary: Accept-Language`, body: 'en' }));
    await turns();
    equal(bench.calls, 2);
    held.waiting[1]!(replyWith({ headers: `${kept} / Vary: Accept-Language`, body: 'fr' }));
    deepEqual(
      (await Promise.all(asking)).map(({ text }) => text),
      ['en', 'fr', 'en', 'fr', 'en'],
    );
    equal(bench.calls, 2);
  });

  it('does not make requests wait for responses that are not stored', async () => {
    const asking = [bench.ask(), bench.ask(), bench.ask()];
    await turns();
    const body = new ByteStream();
    held.waiting[0]!(replyWith({ body }));
    await turns();
    equal(bench.calls, 3);
    const later = bench.ask();
    equal(bench.calls, 4);
    body.end();
    for (const go of held.waiting.slice(1)) go(replyWith({}));
    await Promise.all([...asking, later]);
  });

  it('sends all requests to the backend if the first one fails', async () => {
    const asking = [bench.ask(), bench.ask(), bench.ask()];
    await turns();
    held.waiting[0]!(Reply.failed(new BackendError('BACKEND_REFUSED', 'down')));
    await turns();
    equal(bench.calls, 3);
    for (const go of held.waiting.slice(1)) go(replyWith({ headers: kept }));
    deepEqual(
      (await Promise.all(asking)).map(({ status }) => status),
      [500, 200, 200],
    );
  });

  it('starts another fetch if the client of the first one disconnects, before or during the body', async () => {
    const first = new Call();
    const second = new Call();
    const leaving = bench.ask('', {}, first);
    const broken = bench.ask('', {}, second).catch((error: Error) => error);
    const staying = bench.ask();
    await turns();
    first.cancel();
    await turns();
    equal(bench.calls, 2);
    const body = new ByteStream();
    held.waiting[1]!(replyWith({ headers: kept, body }));
    await turns();
    body.write(Buffer.from('half'));
    body.fail(new CancelledError());
    await turns();
    equal(bench.calls, 3);
    held.waiting[2]!(replyWith({ headers: kept }));
    equal((await leaving).text, 'CALL_CANCELLED');
    equal((await broken) instanceof CancelledError, true);
    equal((await staying).text, 'body');
  });

  it("stops waiting when the request's own client disconnects", async () => {
    const first = bench.ask();
    const call = new Call();
    const second = bench.ask('', {}, call);
    await turns();
    call.cancel();
    equal((await second).text, 'CALL_CANCELLED');
    held.waiting[0]!(replyWith({ headers: kept }));
    equal((await first).text, 'body');
    equal(bench.calls, 1);
  });

  it('does not delay waiting requests for a client that reads slowly', async () => {
    const slow = bench.send();
    await turns();
    const body = new ByteStream();
    held.waiting[0]!(replyWith({ headers: kept, body }));
    const reply = await slow;
    (reply.body as ByteStream).flow({ write: () => false, end() {}, fail() {} });
    const quick = bench.ask();
    for (let piece = 0; piece < 40; piece++) body.write(new Uint8Array(10_000));
    body.end();
    equal((await quick).text.length, 400_000);
    equal(bench.calls, 1);
  });

  it('waits for at most half of the remaining time', async () => {
    const first = bench.ask();
    await turns();
    const call = new Call(undefined, 100);
    const second = bench.ask('', {}, call);
    await until(() => bench.calls === 2);
    held.waiting[1]!(replyWith({ headers: kept, body: 'second' }));
    equal((await second).text, 'second');
    call.finish();
    held.waiting[0]!(replyWith({ headers: kept }));
    await first;
  });

  it('serves waiting requests with a response that arrives in time, even if their own fetch has begun', async () => {
    const first = bench.ask();
    await turns();
    const call = new Call(undefined, 200);
    const second = bench.ask('', {}, call);
    await until(() => bench.calls === 2);
    held.waiting[0]!(replyWith({ headers: kept, body: 'first' }));
    equal((await second).text, 'first');
    equal((await first).text, 'first');
    equal((await bench.ask()).text, 'first');
    equal(bench.calls, 2);
    call.finish();
  });

  it('fetches another response if the shared one does not match the request', async () => {
    const first = bench.ask('X-User: a');
    await turns();
    const call = new Call(undefined, 200);
    const second = bench.ask('X-User: b', {}, call);
    await until(() => bench.calls === 2);
    held.waiting[0]!(replyWith({ headers: `${kept} / Vary: X-User`, body: 'of a' }));
    await turns();
    held.waiting[1]!(replyWith({ headers: `${kept} / Vary: X-User`, body: 'of b' }));
    equal((await second).text, 'of b');
    equal((await first).text, 'of a');
    call.finish();
  });

  it('fetches variants in parallel for a URL that is known to vary', async () => {
    const users = ['a', 'b', 'c', 'd', 'e', 'a'];
    const asking = users.map((user) => bench.ask(`X-User: ${user}`));
    await turns();
    equal(bench.calls, 1);
    held.waiting[0]!(replyWith({ headers: `${kept} / Vary: X-User`, body: 'own' }));
    await turns();
    equal(bench.calls, 5);
    for (const go of held.waiting.slice(1)) go(replyWith({ headers: `${kept} / Vary: X-User`, body: 'own' }));
    equal((await Promise.all(asking)).length, users.length);
    equal(bench.calls, 5);
  });

  it('does not delay a request with no-cache', async () => {
    const asking = [bench.ask(), bench.ask('Cache-Control: no-cache')];
    await turns();
    equal(bench.calls, 2);
    for (const go of held.waiting) go(replyWith({ headers: kept }));
    await Promise.all(asking);
  });

  describe('and stale-while-revalidate', () => {
    const swr = 'Cache-Control: max-age=60, stale-while-revalidate=30 / ETag: "1"';

    beforeEach(async () => {
      bench.given = { headers: swr, body: 'old' };
      await bench.ask();
      bench.requests.length = 0;
      bench.given = held.answer;
    });

    it('returns the stale response immediately, fetches once, and returns the new one afterwards', async () => {
      pass(89);
      const texts = await Promise.all([bench.ask(), bench.ask(), bench.ask()]);
      deepEqual(new Set(texts.map(({ text }) => text)), new Set(['old']));
      equal(bench.calls, 1);
      held.waiting[0]!(replyWith({ headers: swr, body: 'x'.repeat(200_000) }));
      await turns();
      equal((await bench.ask()).text.length, 200_000);
      equal(bench.calls, 1);
    });

    it('does not return the stale response after that period', async () => {
      pass(90);
      const asking = bench.ask();
      await turns();
      equal(bench.calls, 1);
      held.waiting[0]!(replyWith({ headers: swr, body: 'new' }));
      equal((await asking).text, 'new');
    });

    it('keeps returning the stale response if the backend fails', async () => {
      pass(61);
      await bench.ask();
      held.waiting[0]!(Reply.failed(new BackendError('BACKEND_REFUSED', 'down')));
      await turns();
      equal((await bench.ask()).text, 'old');
      held.waiting[1]!(replyWith({ headers: swr }));
      await turns();
    });

    it('completes the revalidation although the client disconnects', async () => {
      pass(61);
      const call = new Call();
      await bench.ask('', {}, call);
      call.cancel();
      held.waiting[0]!(replyWith({ headers: swr, body: 'new' }));
      await turns();
      equal((await bench.ask()).text, 'new');
    });
  });

  describe('and streamed bodies', () => {
    it('stores a body that arrives in pieces', async () => {
      const asking = bench.ask();
      await turns();
      const body = new ByteStream();
      held.waiting[0]!(replyWith({ headers: kept, body }));
      await turns();
      for (const piece of ['a', 'b', 'c']) body.write(Buffer.from(piece));
      body.end();
      equal((await asking).text, 'abc');
      equal((await bench.ask()).text, 'abc');
      equal(bench.calls, 1);
    });

    for (const [what, end] of [
      ['breaks off', (body: ByteStream) => body.fail(new BackendError('BACKEND_RESET', 'reset'))],
      ['no client waits for', (_body: ByteStream, reader: ByteStream) => reader.cancel(new CancelledError())],
    ] as const) {
      it(`does not store a response that ${what}`, async () => {
        const sending = bench.send();
        await turns();
        let cancelled: Error | null = null;
        const body = new ByteStream({
          cancel: (reason) => {
            cancelled = reason;
          },
        });
        held.waiting[0]!(replyWith({ headers: kept, body }));
        const reply = await sending;
        const reader = reply.body as ByteStream;
        reader.flow({ write: () => true, end() {}, fail() {} });
        body.write(Buffer.from('half'));
        end(body, reader);
        await turns();
        if (what === 'no client waits for') equal((cancelled as Error | null)?.name, 'CancelledError');
        bench.given = { headers: kept };
        equal((await bench.ask()).text, 'body');
        equal(bench.calls, 2);
      });
    }
  });
});
