import type { Socket } from 'node:net';
import type { Chance } from '../../test/support/chance.ts';
import { END_HEADERS, END_STREAM, type Fields, FRAMES, frame, headerBlock, PREFACE } from '../fuzz/http2.ts';
import { reset } from '../fuzz/stage.ts';
import { someTime } from './moments.ts';

/** Largest flow-control window, so that everything the gateway writes waits in the socket. */
const WINDOW = 2 ** 31 - 1;
const DEFAULT_WINDOW = 65_535;

export const REQUEST: Fields = [
  [':method', 'POST'],
  [':scheme', 'http'],
  [':authority', 'a.test'],
  [':path', '/a'],
];
export const RESPONSE: Fields = [[':status', '200']];

const field: Fields[number] = ['x-a', 'a'.repeat(100)];
/** More header fields than a request may have. */
const crowd: Fields = Array.from({ length: 2100 }, () => ['x', 'y']);

/** Settings that allow the gateway to send everything at once; for a client, after its connection preface. */
export function opening(isClient: boolean): Buffer {
  const settings = Buffer.alloc(6);
  settings.writeUInt16BE(4, 0);
  settings.writeUInt32BE(WINDOW, 2);
  const update = Buffer.alloc(4);
  update.writeUInt32BE(WINDOW - DEFAULT_WINDOW);
  return Buffer.concat([
    ...(isClient ? [PREFACE] : []),
    frame(FRAMES.settings, 0, 0, settings),
    frame(FRAMES.window, 0, 0, update),
  ]);
}

/** HEADERS whose CONTINUATION frame is missing. */
export function halfHead(stream: number, fields: Fields, flags = 0): Buffer {
  return frame(FRAMES.headers, flags, stream, headerBlock([...fields, field]));
}

/** A complete head. @param flags END_STREAM for a message without a body. */
export function head(stream: number, fields: Fields, flags = 0): Buffer {
  return frame(FRAMES.headers, flags | END_HEADERS, stream, headerBlock(fields));
}

type Step = (stream: number, begin: Fields) => Buffer;

/** Frames that a peer can send on a stream whose head is complete. */
const steps: readonly Step[] = [
  (stream) => halfHead(stream, [], END_STREAM),
  (stream) => halfHead(stream, [], END_STREAM),
  (stream) => head(stream, crowd, END_STREAM),
  (stream) => halfHead(stream, crowd, END_STREAM),
  (stream) => head(stream, [field], END_STREAM),
  (stream) => head(stream, [field]),
  (stream) => frame(FRAMES.data, 0, stream, Buffer.alloc(1000)),
  (stream) => frame(FRAMES.data, 8, stream, Buffer.of(200, ...Buffer.alloc(300))),
  (stream) => frame(FRAMES.data, END_STREAM, stream, Buffer.alloc(1000)),
  (stream) => frame(FRAMES.reset, 0, stream, Buffer.alloc(4)),
  (stream) => frame(FRAMES.reset, 0, stream, Buffer.of(0, 0, 0, 8)),
  (stream) => frame(FRAMES.window, 0, stream, Buffer.of(0x7f, 0xff, 0xff, 0xff)),
  (stream, begin) => head(stream + 2, begin),
  (stream, begin) => halfHead(stream + 2, begin),
  (stream, begin) => head(stream + 2, [...begin, ...crowd]),
  () => Buffer.concat(Array.from({ length: 40 }, () => frame(FRAMES.settings, 0, 0, Buffer.alloc(0)))),
  () => Buffer.concat(Array.from({ length: 40 }, () => frame(FRAMES.ping, 0, 0, Buffer.alloc(8)))),
  () => frame(FRAMES.ping, 1, 0, Buffer.alloc(8)),
  () => frame(FRAMES.settings, 1, 0, Buffer.alloc(0)),
  () => frame(FRAMES.goaway, 0, 0, Buffer.alloc(8)),
  () => frame(FRAMES.goaway, 0, 0, Buffer.of(0, 0, 0, 0, 0, 0, 0, 2)),
  () => frame(FRAMES.push, END_HEADERS, 1, Buffer.concat([Buffer.of(0, 0, 0, 2), headerBlock(REQUEST)])),
  () => Buffer.alloc(50, 0xff),
  (stream) => frame(FRAMES.continuation, END_HEADERS, stream, Buffer.alloc(0)),
  (stream) => frame(FRAMES.headers, END_HEADERS, stream, Buffer.alloc(20, 0xff)),
];

/**
 * Sends a head and a few frames on stream 1, in one piece or several, then ends the connection in some way.
 * @param tcp the TCP connection, over which the encrypted connection runs, if there is one.
 */
export async function converse(chance: Chance, line: Socket, tcp: Socket, start: Buffer, begin: Fields): Promise<void> {
  if (chance.below(4) > 0) line.pause();
  else line.resume();
  const first = chance.below(6) === 0 ? halfHead(1, begin) : head(1, begin);
  const rest = Array.from({ length: chance.below(4) }, () => chance.pick(steps)(1, begin));
  const isOnePiece = chance.below(2) === 0;
  if (isOnePiece) line.write(Buffer.concat([start, first, ...rest]));
  for (const bytes of isOnePiece ? [] : [start, first, ...rest]) {
    line.write(bytes);
    await someTime(chance);
  }
  await someTime(chance);
  await someTime(chance);
  chance.pick(endings)(line, tcp);
}

/** Time for which a silent peer keeps its connection, in milliseconds. */
const SILENCE_MS = 50;

const endings: readonly ((line: Socket, tcp: Socket) => void)[] = [
  (line) => line.end(),
  (line) => line.destroy(),
  (_, tcp) => reset(tcp),
  (line) => void setTimeout(() => line.destroy(), SILENCE_MS),
];
