import { deepEqual, equal } from 'node:assert/strict';
import { ByteStream, type ByteTap } from '#contract';

/** A tap that records its notifications. */
function noting(notes: string[]): ByteTap {
  return {
    write: (chunk) => void notes.push(Buffer.from(chunk).toString()),
    end: () => void notes.push('end'),
    fail: (error) => void notes.push(`failed: ${error.message}`),
    cancel: (reason) => void notes.push(`canceled: ${reason.message}`),
  };
}

/** A reader that accepts the given number of chunks. */
function readerOf(stream: ByteStream) {
  const got: string[] = [];
  const reader = { got, wants: Number.POSITIVE_INFINITY };
  stream.flow({
    write: (chunk) => got.push(Buffer.from(chunk).toString()) < reader.wants,
    end: () => void got.push('end'),
    fail: (error) => void got.push(`failed: ${error.message}`),
  });
  return reader;
}

describe('a tap (an observer of bytes) on a ByteStream', () => {
  let notes: string[];
  beforeEach(() => {
    notes = [];
  });

  it('sees pending chunks, new chunks and the end, once each', () => {
    const stream = new ByteStream();
    stream.write(Buffer.from('a'));
    stream.tap(noting(notes));
    const { got } = readerOf(stream);
    stream.write(Buffer.from('b'));
    stream.end();
    deepEqual(notes, ['a', 'b', 'end']);
    deepEqual(got, notes);
  });

  it('does not change the backpressure between writer and reader', () => {
    let resumed = 0;
    const stream = new ByteStream({ resume: () => resumed++ });
    stream.tap(noting(notes));
    const reader = readerOf(stream);
    reader.wants = 1;
    deepEqual([stream.write(Buffer.from('a')), stream.write(Buffer.from('b'))], [false, false]);
    deepEqual(notes, ['a']);
    reader.wants = 10;
    stream.resume();
    deepEqual([notes, resumed], [['a', 'b'], 1]);
  });

  it('sees a body that is collected, whether it has arrived or not', async () => {
    const arrived = new ByteStream();
    arrived.tap(noting(notes));
    arrived.write(Buffer.from('a'));
    arrived.end();
    equal(arrived.arrived, true);
    equal(String(arrived.collect(10)), 'a');
    equal(String(arrived.collect(10)), 'a');
    deepEqual(notes, ['a', 'end']);
    notes.length = 0;
    const late = new ByteStream();
    late.tap(noting(notes));
    const collecting = late.collect(10);
    late.write(Buffer.from('b'));
    late.end();
    equal(String(await collecting), 'b');
    deepEqual(notes, ['b', 'end']);
  });

  it('is notified when the stream fails', () => {
    const stream = new ByteStream();
    stream.tap(noting(notes));
    readerOf(stream);
    stream.fail(new Error('broken'));
    stream.cancel(new Error('late'));
    deepEqual(notes, ['failed: broken']);
  });

  it('is notified when the reader stops reading, even if all bytes have arrived', () => {
    const cancelled: string[] = [];
    const stream = new ByteStream({ cancel: ({ message }) => void cancelled.push(message) });
    stream.tap(noting(notes));
    stream.cancel(new Error('left'));
    stream.cancel(new Error('again'));
    const arrived = new ByteStream();
    arrived.tap(noting(notes));
    arrived.end();
    arrived.cancel(new Error('unread'));
    deepEqual([notes, cancelled], [['canceled: left', 'canceled: unread'], ['left']]);
  });

  it('that throws receives its error and no further bytes, while the reader and other taps do', () => {
    const failures: string[] = [];
    const stream = new ByteStream();
    stream.tap({
      write() {
        throw new Error('full');
      },
      end: () => void failures.push('end'),
      fail({ message }) {
        failures.push(message);
        throw new Error('again');
      },
    });
    stream.tap(noting(notes));
    const { got } = readerOf(stream);
    stream.write(Buffer.from('a'));
    stream.end();
    deepEqual([failures, notes, got], [['full'], ['a', 'end'], ['a', 'end']]);
  });
});
