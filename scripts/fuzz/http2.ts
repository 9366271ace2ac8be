/** Connection preface of every HTTP/2 client. */
export const PREFACE: Buffer = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');

/** Frame types (RFC 9113, section 6). */
export const FRAMES = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  push: 5,
  ping: 6,
  goaway: 7,
  window: 8,
  continuation: 9,
} as const;

export const END_STREAM = 1;
export const END_HEADERS = 4;

/** Default maximum payload of a frame, in bytes. */
const PIECE_BYTES = 16_384;

export type Fields = readonly (readonly [name: string, value: string])[];

export function frame(type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream >>> 0, 5);
  return Buffer.concat([head, payload]);
}

/** A HEADERS frame, with as many CONTINUATION frames as needed. @param pieceBytes size of each frame. */
export function headFrames(stream: number, fields: Fields, isLast: boolean, pieceBytes = PIECE_BYTES): Buffer {
  const block = headerBlock(fields);
  const frames: Buffer[] = [];
  for (let at = 0; at === 0 || at < block.length; at += pieceBytes) {
    const flags = (at === 0 && isLast ? END_STREAM : 0) | (at + pieceBytes >= block.length ? END_HEADERS : 0);
    const type = at === 0 ? FRAMES.headers : FRAMES.continuation;
    frames.push(frame(type, flags, stream, block.subarray(at, at + pieceBytes)));
  }
  return Buffer.concat(frames);
}

/** Encodes fields in HPACK's simplest form: all names literal, without indexing or compression. */
export function headerBlock(fields: Fields): Buffer {
  return Buffer.concat(fields.flatMap(([name, value]) => [Buffer.of(0), text(name), text(value)]));
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1');
  return Buffer.concat([integer(bytes.length), bytes]);
}

/** Encodes an integer with a seven-bit prefix (RFC 7541, section 5.1). */
function integer(value: number): Buffer {
  if (value < 127) return Buffer.of(value);
  const bytes = [127];
  let rest = value - 127;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}

/** A received frame. */
export interface CameFrame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

/** Splits received data into frames. */
export function frameReader(came: (frame: CameFrame) => void): (chunk: Buffer) => void {
  let bytes: Buffer = Buffer.alloc(0);
  return (chunk) => {
    bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]);
    while (bytes.length >= 9) {
      const end = 9 + bytes.readUIntBE(0, 3);
      if (bytes.length < end) return;
      const [type, flags, stream] = [bytes[3]!, bytes[4]!, bytes.readUInt32BE(5) & 0x7fff_ffff];
      came({ type, flags, stream, payload: bytes.subarray(9, end) });
      bytes = bytes.subarray(end);
    }
  };
}
