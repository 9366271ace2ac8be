import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { once } from 'node:events';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ByteStream } from '#contract';
import { until } from '../../support/conditions.ts';

const KIB = 1024;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function memoryBytes(): number {
  collectGarbage();
  return process.memoryUsage().arrayBuffers;
}

/** A sink that records all calls, and accepts more data as long as it is `hungry`. */
function notes() {
  const reported: string[] = [];
  const sink = {
    hungry: true,
    write(chunk: Uint8Array) {
      reported.push(String(Buffer.from(chunk)));
      return sink.hungry;
    },
    end: () => void reported.push('end'),
    fail: (error: Error) => void reported.push(`failed: ${error.message}`),
  };
  return { told: reported, sink };
}

/** A stream whose source records the requests of its reader. */
function made() {
  const wanted: string[] = [];
  const stream = new ByteStream({
    resume: () => void wanted.push('more'),
    cancel: (reason) => void wanted.push(`no more: ${reason.message}`),
  });
  return { stream, wanted };
}

const bytes = (letters: string) => Buffer.from(letters);

describe('a ByteStream', () => {
  describe('forwards', () => {
    it('pending and future chunks, in order, and then the end', () => {
      const { stream } = made();
      const { told: reported, sink } = notes();
      stream.write(bytes('a'));
      stream.write(bytes('b'));
      stream.flow(sink);
      stream.write(bytes('c'));
      stream.end();
      deepEqual(reported, ['a', 'b', 'c', 'end']);
    });

    it('its end to a reader that starts later', () => {
      const { stream } = made();
      const { told: reported, sink } = notes();
      stream.write(bytes('a'));
      stream.end();
      stream.flow(sink);
      deepEqual(reported, ['a', 'end']);
    });

    it('its failure after the data written before it', () => {
      const { stream } = made();
      const { told: reported, sink } = notes();
      stream.write(bytes('a'));
      stream.fail(new Error('broken'));
      stream.flow(sink);
      deepEqual(reported, ['a', 'failed: broken']);
    });

    it('a failure immediately to an existing reader', () => {
      const { stream } = made();
      const { told: reported, sink } = notes();
      stream.flow(sink);
      stream.fail(new Error('broken'));
      deepEqual(reported, ['failed: broken']);
    });

    it('one end, even if the writer ends it again', () => {
      const { stream } = made();
      const { told: reported, sink } = notes();
      stream.flow(sink);
      stream.end();
      stream.end();
      stream.fail(new Error('broken'));
      ok(stream.write(bytes('late')));
      stream.resume();
      deepEqual(reported, ['end']);
    });

    it('one failure, even if the writer fails it again', () => {
      const { stream } = made();
      const { told: reported, sink } = notes();
      stream.flow(sink);
      stream.fail(new Error('first'));
      stream.fail(new Error('second'));
      stream.end();
      stream.write(bytes('late'));
      stream.resume();
      deepEqual(reported, ['failed: first']);
    });
  });

  describe('asks its writer to pause', () => {
    it('when 64 KiB are unread, and to continue once they are read', () => {
      const { stream, wanted } = made();
      equal(stream.write(Buffer.alloc(64 * KIB - 1)), true);
      equal(stream.write(Buffer.alloc(1)), false);
      deepEqual(wanted, []);
      stream.flow(notes().sink);
      deepEqual(wanted, ['more']);
      equal(stream.write(bytes('a')), true);
    });

    it('when its reader is full, and to continue once the reader resumes', () => {
      const { stream, wanted } = made();
      const { told: reported, sink } = notes();
      sink.hungry = false;
      stream.flow(sink);
      equal(stream.write(bytes('a')), false);
      equal(stream.write(bytes('b')), false);
      deepEqual([reported, wanted], [['a'], []]);
      stream.resume();
      deepEqual([reported, wanted], [['a', 'b'], []]);
      sink.hungry = true;
      stream.resume();
      stream.resume();
      deepEqual(wanted, ['more']);
    });

    it('and delivers the end only after its reader has taken everything', () => {
      const { stream } = made();
      const { told: reported, sink } = notes();
      sink.hungry = false;
      stream.flow(sink);
      stream.write(bytes('a'));
      stream.write(bytes('b'));
      stream.end();
      deepEqual(reported, ['a']);
      stream.resume();
      deepEqual(reported, ['a', 'b']);
      stream.resume();
      deepEqual(reported, ['a', 'b', 'end']);
    });

    it('no longer once its reader has read the pending data', () => {
      const { stream } = made();
      stream.write(Buffer.alloc(60 * KIB));
      const { sink } = notes();
      stream.flow(sink);
      sink.hungry = false;
      stream.write(bytes('a'));
      stream.resume();
      equal(stream.write(Buffer.alloc(5 * KIB)), false);
      sink.hungry = true;
      stream.resume();
      equal(stream.write(Buffer.alloc(63 * KIB)), true);
    });
  });

  describe('that is canceled', () => {
    it('notifies its writer once, and its reader never', () => {
      const { stream, wanted } = made();
      const { told: reported, sink } = notes();
      stream.flow(sink);
      stream.cancel(new Error('enough'));
      stream.cancel(new Error('again'));
      stream.end();
      stream.resume();
      deepEqual([wanted, reported], [['no more: enough'], []]);
    });

    it('discards pending data', () => {
      const { stream } = made();
      const { told: reported, sink } = notes();
      stream.write(bytes('a'));
      stream.cancel(new Error('enough'));
      stream.flow(sink);
      deepEqual(reported, []);
    });

    it('after its end or its failure, notifies no listener', () => {
      for (const finish of [
        (stream: ByteStream) => stream.end(),
        (stream: ByteStream) => stream.fail(new Error('x')),
      ]) {
        const { stream, wanted } = made();
        finish(stream);
        stream.cancel(new Error('enough'));
        deepEqual(wanted, []);
      }
    });

    it('needs no listener', () => {
      const stream = new ByteStream();
      stream.write(Buffer.alloc(64 * KIB));
      stream.flow(notes().sink);
      stream.cancel(new Error('enough'));
      equal(stream.arrived, false);
    });
  });

  describe('collected into one buffer', () => {
    it('is returned synchronously if everything has arrived', () => {
      const { stream } = made();
      equal(stream.arrived, false);
      stream.write(bytes('a'));
      stream.write(bytes('b'));
      stream.end();
      equal(stream.arrived, true);
      deepEqual(String(stream.collect(2)), 'ab');
    });

    it('is the chunk itself if there is only one', () => {
      const { stream } = made();
      const piece = bytes('abc');
      stream.write(piece);
      stream.end();
      equal(stream.collect(3), piece);
    });

    it('waits for the chunks that have not arrived', async () => {
      const { stream } = made();
      stream.write(bytes('a'));
      const all = stream.collect(2);
      ok(all instanceof Promise);
      stream.write(bytes('b'));
      stream.end();
      equal(String(Buffer.from(await all)), 'ab');
    });

    it('is not possible for a second reader', () => {
      const { stream } = made();
      stream.end();
      stream.flow(notes().sink);
      equal(stream.arrived, false);
    });

    it('fails if the stream fails', async () => {
      const { stream } = made();
      const all = stream.collect(10);
      stream.fail(new Error('broken'));
      await rejects(async () => all, /broken/);
    });

    it('fails beyond the limit, and cancels the rest', async () => {
      const arrived = made();
      arrived.stream.write(bytes('abc'));
      arrived.stream.end();
      await rejects(async () => arrived.stream.collect(2), { code: 'BODY_TOO_LARGE' });
      const coming = made();
      const all = coming.stream.collect(2);
      coming.stream.write(bytes('ab'));
      deepEqual(coming.wanted, []);
      coming.stream.write(bytes('c'));
      await rejects(async () => all, /larger than 2 bytes/);
      deepEqual(coming.wanted, ['no more: body larger than 2 bytes']);
    });

    for (const [outcome, end] of [
      ['is too long', (stream: ByteStream) => stream.write(Buffer.alloc(KIB))],
      ['has failed', (stream: ByteStream) => stream.fail(new Error('reset'))],
    ] as const) {
      it(`keeps no bytes of a body that ${outcome} in memory while the stream is referenced`, async () => {
        const { stream } = made();
        const before = memoryBytes();
        const collected = Promise.resolve(stream.collect(16 * 1024 * KIB)).then(
          () => {},
          () => {},
        );
        for (let count = 0; count < 256; count++) stream.write(Buffer.alloc(64 * KIB));
        end(stream);
        await collected;
        await until(() => memoryBytes() - before < 4 * 1024 * KIB);
        equal(stream.isTaken, true);
      });
    }
  });

  describe('read in a loop', () => {
    it('yields every chunk, and requests the next one afterwards', async () => {
      const { stream, wanted } = made();
      stream.write(bytes('a'));
      stream.write(bytes('b'));
      const pieces: string[] = [];
      for await (const piece of stream) {
        pieces.push(String(Buffer.from(piece)));
        if (pieces.length === 2) {
          equal(stream.write(bytes('c')), false);
          setImmediate(() => stream.end());
        }
      }
      deepEqual(pieces, ['a', 'b', 'c']);
      deepEqual(wanted, ['more']);
    });

    it('throws its failure after the chunks before it', async () => {
      const { stream } = made();
      stream.write(bytes('a'));
      stream.fail(new Error('broken'));
      const pieces: string[] = [];
      await rejects(async () => {
        for await (const piece of stream) pieces.push(String(Buffer.from(piece)));
      }, /broken/);
      deepEqual(pieces, ['a']);
    });

    it('throws a failure that occurs while it is waiting', async () => {
      const { stream } = made();
      setImmediate(() => stream.fail(new Error('broken')));
      await rejects(stream[Symbol.asyncIterator]().next(), /broken/);
    });

    it('is canceled if the loop ends early', async () => {
      const { stream, wanted } = made();
      stream.write(bytes('a'));
      for await (const _ of stream) break;
      deepEqual(wanted, ['no more: context canceled']);
    });

    it('is not canceled after its end', async () => {
      const { stream, wanted } = made();
      stream.end();
      for await (const _ of stream) ok(false);
      deepEqual(wanted, []);
    });

    it('gives the same result through a Node.js stream', async () => {
      const { stream } = made();
      stream.write(bytes('a'));
      stream.write(bytes('b'));
      stream.end();
      const readable = stream.readable();
      equal(readable.readableObjectMode, false);
      equal(await text(readable), 'ab');
    });
  });

  it('is canceled if its Node.js stream is destroyed before it is read', async () => {
    const { stream, wanted } = made();
    stream.write(bytes('a'));
    const readable = stream.readable().destroy();
    await once(readable, 'close');
    deepEqual(wanted, ['no more: context canceled']);
  });

  describe('made from a Node.js stream', () => {
    it('has the same bytes and the same end', async () => {
      const stream = ByteStream.from(Readable.from([bytes('a'), bytes('b')]));
      equal(String(Buffer.from(await stream.collect(10))), 'ab');
    });

    it('fails with the same error', async () => {
      const source = new PassThrough();
      const all = ByteStream.from(source).collect(10);
      source.destroy(new Error('broken'));
      await rejects(async () => all, /broken/);
    });

    it('fails if that stream is closed before its end', async () => {
      const source = new PassThrough();
      const all = ByteStream.from(source).collect(10);
      source.destroy();
      await rejects(async () => all, /premature close/);
    });

    it('pauses that stream without a reader, and resumes it', async () => {
      const source = new PassThrough({ highWaterMark: 1 });
      const stream = ByteStream.from(source);
      source.write(Buffer.alloc(64 * KIB));
      await until(() => source.isPaused());
      stream.flow(notes().sink);
      equal(source.isPaused(), false);
      source.destroy();
    });

    it('destroys that stream when it is canceled', async () => {
      const source = new PassThrough();
      const failed = once(source, 'error');
      ByteStream.from(source).cancel(new Error('enough'));
      equal((await failed)[0].message, 'enough');
    });
  });
});
