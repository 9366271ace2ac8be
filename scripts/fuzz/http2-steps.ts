import fc from 'fast-check';
import { END_HEADERS, END_STREAM, type Fields, FRAMES, frame, headerBlock, headFrames } from './http2.ts';

/** One action of a peer on an HTTP/2 connection. */
export type Step = RequestStep | FrameStep | { readonly turns: number };

/** Opens the next stream. */
export interface RequestStep {
  readonly method: string;
  readonly path: string;
  readonly fields: Fields;
  /** Number of additional short fields. */
  readonly more: number;
  /** True when a body or trailers follow. */
  readonly isOpen: boolean;
  /** Size of the frames that contain the header block, in bytes. */
  readonly pieceBytes: number;
}

/** An arbitrary frame, well-formed or not. */
export interface FrameStep {
  readonly type: number;
  readonly flags: number;
  /** 0 for the connection, n for the n-th stream of the client. */
  readonly of: number;
  /** Payload of the frame, in hexadecimal. */
  readonly payload: string;
  readonly times: number;
}

const hexadecimal = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

function bytesOf(...numbers: readonly number[]): Buffer {
  const bytes = Buffer.alloc(numbers.length * 4);
  for (const [at, number] of numbers.entries()) bytes.writeUInt32BE(number >>> 0, at * 4);
  return bytes;
}

const streams = fc.nat({ max: 5 });
const words = fc.oneof(fc.constantFrom(0, 1, 2, 7, 8, 11, 16_384, 65_535, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1), fc.nat());
const payloads: Readonly<Record<number, fc.Arbitrary<Uint8Array>>> = {
  [FRAMES.data]: fc.constantFrom(0, 1, 5, 10, 1000, 16_384).map((length) => Buffer.alloc(length, 'a')),
  [FRAMES.headers]: fc.constantFrom<Fields>([['x-t', '1']], [[':path', '/a']], []).map(headerBlock),
  [FRAMES.priority]: fc.tuple(words, fc.nat({ max: 255 })).map(([on, weight]) => Buffer.of(...bytesOf(on), weight)),
  [FRAMES.reset]: words.map((code) => bytesOf(code)),
  [FRAMES.settings]: fc
    .array(fc.tuple(fc.nat({ max: 9 }), words), { maxLength: 4 })
    .map((list) => Buffer.concat(list.map(([id, value]) => Buffer.concat([Buffer.of(0, id), bytesOf(value)])))),
  [FRAMES.ping]: fc.constantFrom(8, 8, 7).map((length) => Buffer.alloc(length)),
  [FRAMES.goaway]: fc.tuple(words, words).map(([last, code]) => bytesOf(last, code)),
  [FRAMES.window]: words.map((by) => bytesOf(by)),
  [FRAMES.continuation]: fc.constantFrom<Fields>([['x-c', '1']], []).map(headerBlock),
};
const anyPayload = fc.uint8Array({ maxLength: 20 });
const kinds = [
  FRAMES.data,
  FRAMES.data,
  FRAMES.data,
  FRAMES.headers,
  FRAMES.priority,
  FRAMES.reset,
  FRAMES.reset,
  FRAMES.settings,
  FRAMES.ping,
  FRAMES.goaway,
  FRAMES.window,
  FRAMES.window,
  FRAMES.continuation,
] as const;
const usualFlags: Readonly<Record<number, readonly number[]>> = {
  [FRAMES.data]: [0, END_STREAM],
  [FRAMES.headers]: [END_HEADERS | END_STREAM, END_HEADERS, 0],
  [FRAMES.continuation]: [END_HEADERS, 0],
};
const times = fc.oneof({ weight: 9, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.constantFrom(2, 50) });
const frames: fc.Arbitrary<FrameStep> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.constantFrom(...kinds).chain((type) =>
      fc.record({
        type: fc.constant(type),
        flags: fc.constantFrom(...(usualFlags[type] ?? [0, 0, 1])),
        of: streams,
        payload: payloads[type]!.map(hexadecimal),
        times,
      }),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.nat({ max: 12 }),
      flags: fc.nat({ max: 255 }),
      of: streams,
      payload: anyPayload.map(hexadecimal),
      times: fc.constant(1),
    }),
  },
);
const turns = fc.record({ turns: fc.nat({ max: 8 }) });

/** Actions of a client: requests, arbitrary frames, and pauses. @param requests of the application. @param bodies parts of their bodies. */
export function stepsOf(
  requests: fc.Arbitrary<RequestStep>,
  bodies: fc.Arbitrary<FrameStep> = frames,
): fc.Arbitrary<Step[]> {
  const any = fc.oneof(
    { weight: 6, arbitrary: requests },
    { weight: 3, arbitrary: frames },
    { weight: 3, arbitrary: bodies },
    { weight: 2, arbitrary: turns },
  );
  return fc.array(any, { minLength: 1, maxLength: 12 });
}

/** Serializes a frame. */
export function frameOf({ type, flags, of, payload, times: count }: FrameStep): Buffer {
  const one = frame(type, flags, of === 0 ? 0 : 2 * of - 1, Buffer.from(payload, 'hex'));
  return count === 1 ? one : Buffer.concat(Array.from({ length: count }, () => one));
}

/** Serializes a request's head. @param path the path to send. */
export function requestOf(
  { method, fields, more, isOpen, pieceBytes }: RequestStep,
  stream: number,
  path: string,
): Buffer {
  const own: Fields =
    method === 'CONNECT'
      ? [
          [':method', method],
          [':authority', 'a.test'],
        ]
      : [
          [':method', method],
          [':scheme', 'http'],
          [':authority', 'a.test'],
          [':path', path],
        ];
  const filling: Fields = Array.from({ length: more }, (_, at) => [`x-${at}`, 'a']);
  return headFrames(stream, [...own, ...fields, ...filling], !isOpen, pieceBytes);
}
