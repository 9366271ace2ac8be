import { deepEqual, equal, ok, rejects, throws } from 'node:assert/strict';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { RequestBody } from '#contract';
import { PayloadTooLarge } from '../../../kernel/contract/internal.ts';

const from = (...pieces: string[]) => Readable.from(pieces.map((piece) => Buffer.from(piece)));

describe('the body of a request', () => {
  it('with bytes has their length, and can be consumed any number of times', () => {
    const body = RequestBody.of('ä');
    equal(body.length, 2);
    deepEqual([String(body.take()), String(body.take()), String(body.bytes())], ['ä', 'ä', 'ä']);
    equal(RequestBody.of(Buffer.from('abc')).length, 3);
  });

  it('that is a stream can be consumed once', () => {
    const stream = from('a');
    const body = RequestBody.stream(stream, 1);
    equal(body.length, 1);
    equal(body.take(), stream);
    throws(() => body.take(), { code: 'BODY_CONSUMED' });
  });

  it('that is a stream can be consumed any number of times once its bytes are in memory', async () => {
    const body = RequestBody.stream(from('a', 'b'), undefined);
    const [one, other] = await Promise.all([body.bytes(), body.bytes()]);
    equal(one, other);
    equal(String(one), 'ab');
    equal(body.take(), one);
    equal(body.bytes(), one);
  });

  it('that is a stream has no bytes after it was consumed', async () => {
    const body = RequestBody.stream(from('a'), 1);
    body.take();
    await rejects(async () => body.bytes(), { code: 'BODY_CONSUMED' });
  });

  describe('that an observer (tap) watches', () => {
    const tapped = (body: RequestBody): string[] => {
      const seen: string[] = [];
      body.tap((chunk) => seen.push(String(chunk)));
      return seen;
    };

    it('passes its bytes to the tap once, as they are forwarded', async () => {
      const body = RequestBody.stream(from('a', 'b'), 2);
      const [seen, other] = [tapped(body), tapped(body)];
      deepEqual(seen, []);
      equal(String(await buffer(body.take() as Readable)), 'ab');
      deepEqual(
        [seen, other],
        [
          ['a', 'b'],
          ['a', 'b'],
        ],
      );
    });

    it('passes its bytes to the tap once, regardless of how often they are read', async () => {
      const body = RequestBody.stream(from('a', 'b'), undefined);
      const seen = tapped(body);
      await body.bytes();
      await body.bytes();
      body.take();
      deepEqual(seen, ['a', 'b']);
    });

    it('passes bytes that have already arrived to the tap', () => deepEqual(tapped(RequestBody.of('abc')), ['abc']));

    it('fails with its source, and cancels its source with its reader', async () => {
      const source = new Readable({ read() {} });
      const body = RequestBody.stream(source, undefined);
      tapped(body);
      const stream = body.take() as Readable;
      const failed = rejects(buffer(stream), /lost/);
      source.destroy(new Error('lost'));
      await failed;
      const left = new Readable({ read() {} }).on('error', () => {});
      const other = RequestBody.stream(left, undefined);
      tapped(other);
      (other.take() as Readable).destroy();
      await new Promise((resolve) => left.once('close', resolve));
    });
  });

  describe('with a limit on its length', () => {
    it('is rejected as too large if its declared length exceeds the limit, and delivers nothing', async () => {
      const body = RequestBody.stream(from('abc'), 3, 2);
      ok(body.isTooLarge);
      throws(() => body.take(), PayloadTooLarge);
      await rejects(
        async () => body.bytes(),
        (error: PayloadTooLarge) => error.view.status === 413,
      );
    });

    it('can have exactly the size of the limit', async () => {
      const body = RequestBody.stream(from('abc'), 3, 3);
      equal(body.isTooLarge, false);
      equal(String(await body.bytes()), 'abc');
    });

    it('has any length if the limit is 0', () => {
      equal(RequestBody.stream(from('abc'), 3, 0).isTooLarge, false);
      equal(RequestBody.stream(from('abc'), undefined, 2).isTooLarge, false);
    });

    it('is checked while it is read if its length is not declared', async () => {
      equal(String(await RequestBody.stream(from('ab', 'c'), undefined, 3).bytes()), 'abc');
      await rejects(async () => RequestBody.stream(from('ab', 'cd'), undefined, 3).bytes(), /larger than 3 bytes/);
    });

    it('is checked while it is forwarded if its length is not declared', async () => {
      const taken = (limit: number) => buffer(RequestBody.stream(from('ab', 'c'), undefined, limit).take() as Readable);
      equal(String(await taken(3)), 'abc');
      await rejects(taken(2), PayloadTooLarge);
    });

    it('is forwarded as a stream if its length is declared', () => {
      const stream = from('abc');
      equal(RequestBody.stream(stream, 3, 3).take(), stream);
    });

    it('can get another limit later only if that is lower', () => {
      const body = RequestBody.stream(from('abcd'), 4, 4);
      body.restrict(9);
      body.restrict(4);
      body.restrict(0);
      equal(body.isTooLarge, false);
      body.restrict(3);
      ok(body.isTooLarge);
    });

    it('can get its first limit later', () => {
      const body = RequestBody.stream(from('abcd'), 4);
      body.restrict(3);
      ok(body.isTooLarge);
    });

    it('is rejected at once if it already exceeds a new limit', () => {
      const body = RequestBody.of('abc');
      body.restrict(3);
      throws(() => body.restrict(2), PayloadTooLarge);
    });
  });
});

describe('a request body that a component keeps in memory', () => {
  const MIB = 1024 * 1024;
  /** A body of unknown length. @param parsedLimit 0 if the configuration disables the limit. */
  const bodyOf = (count: number, parsedLimit: number) => {
    const piece = Buffer.alloc(MIB);
    return RequestBody.stream(Readable.from(Array(count).fill(piece)), undefined, 0, parsedLimit);
  };

  it('can be at most 64 MiB if no limit is configured', async () => {
    equal((await bodyOf(64, MIB).bytes()).length, 64 * MIB);
    await rejects(
      async () => bodyOf(65, MIB).bytes(),
      /larger than 67108864 bytes, the default limit .* set max_payload/,
    );
  });

  it('can have any length if the limit is 0', async () => {
    equal((await bodyOf(65, 0).bytes()).length, 65 * MIB);
  });
});
