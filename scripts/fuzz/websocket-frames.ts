import fc from 'fast-check';

/** A WebSocket frame, well-formed or not. */
export interface SocketFrame {
  /** First byte: final, three reserved bits, opcode. */
  readonly head: number;
  /** Payload of the frame, in hexadecimal. */
  readonly payload: string;
  /** Length stated in the frame header; -1 for the actual length. */
  readonly length: number;
  readonly isMasked: boolean;
  readonly times: number;
}

/** Actions of one side: frames, pauses in turns of the event loop, and how it disconnects. */
export interface SocketScript {
  readonly steps: readonly (SocketFrame | { readonly turns: number })[];
  /** Bytes per write; 0 for all at once. */
  readonly pieceBytes: number;
  /** Closes its connection when the other side sends a close frame. */
  readonly isPolite: boolean;
  readonly end: string;
}

const payloads = fc.oneof(
  fc.constantFrom('', 'a', 'hello', '{"a":1}', 'a'.repeat(125), 'a'.repeat(126), 'a'.repeat(70_000)).map(Buffer.from),
  // Close codes, an end of compressed data, invalid UTF-8.
  fc.constantFrom('03e8', '03ed', '0fa0', '03', 'ffff', '000000ffff', 'c328', 'eda080').map((text) => {
    return Buffer.from(text, 'hex');
  }),
  fc.uint8Array({ maxLength: 12 }).map(Buffer.from),
);
const heads = fc.oneof(
  // Text, binary, close, ping, pong; fragments; compressed frames; arbitrary ones.
  fc.constantFrom(0x81, 0x81, 0x82, 0x88, 0x89, 0x8a, 0x01, 0x02, 0x00, 0x80, 0xc1, 0x41, 0xf1, 0x09, 0x08),
  fc.nat({ max: 255 }),
);

/** @param masked true if a well-behaved side masks its frames. */
function framesOf(masked: boolean): fc.Arbitrary<SocketFrame> {
  return fc.record({
    head: heads,
    payload: payloads.map((bytes) => bytes.toString('hex')),
    length: fc.oneof(
      { weight: 12, arbitrary: fc.constant(-1) },
      { weight: 1, arbitrary: fc.constantFrom(0, 1, 125, 126, 65_536, 2 ** 32, 2 ** 53) },
    ),
    isMasked: fc.constantFrom(masked, masked, masked, masked, masked, masked, !masked),
    times: fc.constantFrom(1, 1, 1, 1, 1, 3, 100),
  });
}

export function scriptsOf(masked: boolean): fc.Arbitrary<SocketScript> {
  const turns = fc.record({ turns: fc.nat({ max: 8 }) });
  return fc.record({
    steps: fc.array(fc.oneof({ weight: 4, arbitrary: framesOf(masked) }, { weight: 1, arbitrary: turns }), {
      maxLength: 8,
    }),
    pieceBytes: fc.constantFrom(0, 0, 1, 7),
    isPolite: fc.nat({ max: 30 }).map((chance) => chance > 0),
    end: fc.constantFrom('end', 'reset', 'wait'),
  });
}

/** Serializes a frame (RFC 6455, section 5.2). */
export function socketFrame({ head, payload, length, isMasked, times }: SocketFrame): Buffer {
  const bytes = Buffer.from(payload, 'hex');
  const said = length < 0 ? bytes.length : length;
  const mask = isMasked ? 0x80 : 0;
  const start = said < 126 ? Buffer.of(head, mask | said) : Buffer.alloc(said < 65_536 ? 4 : 10);
  if (said >= 126) {
    start[0] = head;
    start[1] = mask | (said < 65_536 ? 126 : 127);
    if (said < 65_536) start.writeUInt16BE(said, 2);
    else start.writeBigUInt64BE(BigInt(said), 2);
  }
  const key = Buffer.of(0x12, 0x34, 0x56, 0x78);
  const one = isMasked
    ? Buffer.concat([start, key, bytes.map((byte, at) => byte ^ key[at % 4]!)])
    : Buffer.concat([start, bytes]);
  return times === 1 ? one : Buffer.concat(Array.from({ length: times }, () => one));
}
