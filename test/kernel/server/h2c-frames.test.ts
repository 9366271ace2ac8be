import { deepEqual, equal } from 'node:assert/strict';
import { firstSettings, PREFACE, requestFrames } from '../../../kernel/server/http2/h2c-frames.ts';

interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly payload: Buffer;
}

/** Frames of stream 1. */
function framesIn(bytes: Buffer): Frame[] {
  const frames: Frame[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + 9 + bytes.readUIntBE(at, 3);
    equal(bytes.readUInt32BE(at + 5), 1);
    frames.push({ type: bytes[at + 3]!, flags: bytes[at + 4]!, payload: bytes.subarray(at + 9, end) });
    at = end;
  }
  return frames;
}

/** The names and values in a block of plain HPACK fields. */
function fieldsIn(block: Buffer): [string, string][] {
  let at = 0;
  const length = (): number => {
    let value = block[at++]!;
    if (value < 127) return value;
    for (let factor = 1; ; factor *= 128) {
      const byte = block[at++]!;
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  };
  const text = (): string => {
    const size = length();
    at += size;
    return block.toString('latin1', at - size, at);
  };
  const fields: [string, string][] = [];
  while (at < block.length) {
    equal(block[at++], 0);
    fields.push([text(), text()]);
  }
  return fields;
}

describe('the detection of the first settings of a clear-text HTTP/2 client', () => {
  /** The header of a frame, whose payload may not have arrived yet. */
  const frame = (length: number, type = 4, flags = 0, stream = 0, there = length): Buffer => {
    const head = Buffer.alloc(9 + there);
    head.writeUIntBE(length, 0, 3);
    head[3] = type;
    head[4] = flags;
    head.writeUInt32BE(stream, 5);
    return Buffer.concat([PREFACE, head]);
  };
  const end = PREFACE.length + 9;
  const cases: [name: string, bytes: Buffer, end: number | undefined][] = [
    ['waits if no bytes have arrived', Buffer.alloc(0), undefined],
    ['waits after a part of the preface', PREFACE.subarray(0, 10), undefined],
    ['waits after the preface', PREFACE, undefined],
    ['waits after a part of the frame header', frame(0).subarray(0, end - 1), undefined],
    ['waits after a part of the frame', frame(6, 4, 0, 0, 5), undefined],
    ['accepts an empty frame', frame(0), end],
    ['accepts a frame with payload', frame(6), end + 6],
    ['ends before the next frame', Buffer.concat([frame(6), frame(0)]), end + 6],
    ['accepts a frame of the maximum length', frame(16_384), end + 16_384],
    ['rejects a longer frame', frame(16_385), 0],
    ['rejects another type of frame', frame(6, 3), 0],
    ['rejects an acknowledgement', frame(0, 4, 1), 0],
    ['rejects a frame of a stream', frame(0, 4, 0, 1), 0],
    ['rejects bytes without a preface', Buffer.from('GET / HTTP/1.1'), 0],
    ['rejects an incomplete preface', Buffer.concat([PREFACE.subarray(0, 20), Buffer.alloc(30)]), 0],
  ];
  for (const [name, bytes, expected] of cases) it(name, () => equal(firstSettings(bytes), expected));
});

describe('an HTTP/1.1 request converted into HTTP/2 frames', () => {
  const request = { method: 'PUT', path: '/a?b=c', authority: 'h:1' };

  it('keeps request line and headers, without hop-by-hop headers', () => {
    const dropped = [
      'Connection',
      'HOST',
      'HTTP2-Settings',
      'Keep-Alive',
      'Proxy-Connection',
      'TE',
      'Transfer-Encoding',
      'Upgrade',
    ];
    const rawHeaders = ['X-A', '1', ...dropped.flatMap((name) => [name, 'x']), 'x-a', 'caf\xe9'];
    const [frame, ...others] = framesIn(requestFrames({ ...request, rawHeaders }));
    deepEqual([frame!.type, frame!.flags, others], [1, 5, []]);
    deepEqual(fieldsIn(frame!.payload), [
      [':method', 'PUT'],
      [':scheme', 'http'],
      [':authority', 'h:1'],
      [':path', '/a?b=c'],
      ['x-a', '1'],
      ['x-a', 'caf\xe9'],
    ]);
  });

  it('keeps header values of any length', () => {
    for (const length of [0, 1, 126, 127, 128, 254, 255, 256, 16_383, 16_384, 16_510, 16_511, 16_512, 300_000]) {
      const frames = framesIn(requestFrames({ ...request, rawHeaders: ['x', 'v'.repeat(length)] }));
      const fields = fieldsIn(Buffer.concat(frames.map(({ payload }) => payload)));
      deepEqual(fields.at(-1), ['x', 'v'.repeat(length)], String(length));
    }
  });

  it('is split into as many frames as needed', () => {
    const framed = (more: number) => {
      const spare =
        16_384 - framesIn(requestFrames({ ...request, rawHeaders: ['x', 'v'.repeat(1000)] }))[0]!.payload.length;
      const rawHeaders = ['x', 'v'.repeat(1000 + spare + more)];
      return framesIn(requestFrames({ ...request, rawHeaders })).map(({ type, flags, payload }) => [
        type,
        flags,
        payload.length,
      ]);
    };
    deepEqual(framed(-1), [[1, 5, 16_383]]);
    deepEqual(framed(0), [[1, 5, 16_384]]);
    // From here on, the length of the value takes one more byte.
    deepEqual(framed(16_383), [
      [1, 1, 16_384],
      [9, 4, 16_384],
    ]);
    deepEqual(framed(16_384), [
      [1, 1, 16_384],
      [9, 0, 16_384],
      [9, 4, 1],
    ]);
  });
});
