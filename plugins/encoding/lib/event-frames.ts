import { crc32 } from 'node:zlib';
import type { EachMessage, MessageReader } from '#contract';
import { framingError } from './framing.ts';
import { GrowingBytes } from './growing-bytes.ts';
import { readObject, rewriteObject } from './payload.ts';

/** Maximum frame length, in bytes. */
const MAX_FRAME_BYTES = 10 * 1024 * 1024;
/** Length of the prelude, in bytes: total length, header length, and their checksum. */
const PRELUDE_BYTES = 12;
const CHECKSUM_BYTES = 4;

/**
 * Rewrites a stream of AWS event frames. Headers are unchanged; a payload is parsed when its `:content-type` is JSON.
 * Lengths and checksums are verified before any part of a frame is emitted, and are recalculated when it changes.
 */
export function openEventFrames(each: EachMessage | null, emit: (bytes: Uint8Array) => void): MessageReader {
  const begun = new GrowingBytes();
  let need = PRELUDE_BYTES;
  /** Offset of the current frame. */
  let offset = 0;

  /** Extracts frames from a chunk. @returns the remainder. */
  function take(piece: Buffer): Buffer {
    let rest = piece;
    need = PRELUDE_BYTES;
    while (rest.length >= PRELUDE_BYTES) {
      const length = provePrelude(rest, offset);
      if (rest.length < length) {
        need = length;
        return rest;
      }
      const frame = rewriteFrame(rest.subarray(0, length), each, offset);
      if (frame !== null) emit(frame);
      offset += length;
      rest = rest.subarray(length);
    }
    return rest;
  }

  return {
    write(chunk) {
      if (begun.length === 0) return begun.append(take(asBuffer(chunk)));
      begun.append(chunk);
      if (begun.length >= need) begun.append(take(begun.take()));
    },
    end() {
      if (begun.length > 0) throw framingError('eventstream', 'incomplete frame', offset);
    },
  };
}

/** Verifies the prelude. @returns the length of the frame that starts here. */
function provePrelude(bytes: Buffer, offset: number): number {
  if (crc32(bytes.subarray(0, 8)) !== bytes.readUInt32BE(8)) {
    throw framingError('eventstream', 'wrong checksum of a prelude', offset);
  }
  const length = bytes.readUInt32BE(0);
  if (length > MAX_FRAME_BYTES) {
    throw framingError('eventstream', `frame larger than ${MAX_FRAME_BYTES} bytes`, offset);
  }
  if (PRELUDE_BYTES + bytes.readUInt32BE(4) + CHECKSUM_BYTES > length) {
    throw framingError('eventstream', 'contradictory lengths', offset);
  }
  return length;
}

function rewriteFrame(frame: Buffer, each: EachMessage | null, offset: number): Uint8Array | null {
  const end = frame.length - CHECKSUM_BYTES;
  if (crc32(frame.subarray(0, end)) !== frame.readUInt32BE(end)) {
    throw framingError('eventstream', 'wrong checksum of a frame', offset);
  }
  const headersEnd = PRELUDE_BYTES + frame.readUInt32BE(4);
  const type = contentType(frame.subarray(PRELUDE_BYTES, headersEnd), offset);
  if (each === null || type !== 'application/json') return frame;
  const object = readObject(frame.toString('utf8', headersEnd, end));
  if (object === null) return frame;
  const payload = rewriteObject(object, each);
  return payload === null ? null : writeFrame(frame.subarray(PRELUDE_BYTES, headersEnd), payload);
}

function writeFrame(headers: Uint8Array, payload: string): Buffer {
  const headersEnd = PRELUDE_BYTES + headers.length;
  const end = headersEnd + Buffer.byteLength(payload);
  const frame = Buffer.allocUnsafe(end + CHECKSUM_BYTES);
  frame.writeUInt32BE(frame.length, 0);
  frame.writeUInt32BE(headers.length, 4);
  frame.writeUInt32BE(crc32(frame.subarray(0, 8)), 8);
  frame.set(headers, PRELUDE_BYTES);
  frame.write(payload, headersEnd);
  frame.writeUInt32BE(crc32(frame.subarray(0, end)), end);
  return frame;
}

const STRING = 7;
/** Length of a header value in bytes, by type; -1 when the value starts with its own length, in two bytes. */
const VALUE_BYTES = [0, 0, 1, 2, 4, 8, -1, -1, 8, 16] as const;

/** Media type of the payload, in lower case and without parameters; undefined when not specified. */
function contentType(headers: Buffer, offset: number): string | undefined {
  let match: string | undefined;
  let at = 0;
  const broken = () => framingError('eventstream', 'malformed headers', offset);
  while (at < headers.length) {
    const nameEnd = at + 1 + headers[at]!;
    const type = headers[nameEnd];
    const fixed = type === undefined ? undefined : VALUE_BYTES[type];
    if (fixed === undefined) throw broken();
    const valueStart = nameEnd + (fixed < 0 ? 3 : 1);
    if (valueStart > headers.length) throw broken();
    const valueEnd = valueStart + (fixed < 0 ? headers.readUInt16BE(nameEnd + 1) : fixed);
    if (valueEnd > headers.length) throw broken();
    if (type === STRING && headers.toString('latin1', at + 1, nameEnd) === ':content-type') {
      match = headers.toString('latin1', valueStart, valueEnd).split(';', 1)[0]!.trim().toLowerCase();
    }
    at = valueEnd;
  }
  return match;
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
