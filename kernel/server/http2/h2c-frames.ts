/** The HTTP/2 client connection preface. */
export const PREFACE: Buffer = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');

const FRAME_HEAD_BYTES = 9;
/** Maximum frame payload until the peer allows more, in bytes. */
const FRAME_BYTES = 16_384;
const SETTINGS = 4;
const HEADERS = 1;
const CONTINUATION = 9;
const END_STREAM = 1;
const END_HEADERS = 4;

/**
 * Finds the end of the client's first SETTINGS frame, which must follow its preface.
 * @returns undefined when more bytes are needed, 0 when this is not the start of an HTTP/2 connection.
 */
export function firstSettings(bytes: Buffer): number | undefined {
  const length = Math.min(bytes.length, PREFACE.length);
  if (!bytes.subarray(0, length).equals(PREFACE.subarray(0, length))) return 0;
  if (bytes.length < PREFACE.length + FRAME_HEAD_BYTES) return undefined;
  const frame = bytes.subarray(PREFACE.length);
  const payload = frame.readUIntBE(0, 3);
  const isSettings = frame[3] === SETTINGS && frame[4] === 0 && frame.readUInt32BE(5) === 0;
  if (!isSettings || payload > FRAME_BYTES) return 0;
  const end = PREFACE.length + FRAME_HEAD_BYTES + payload;
  return bytes.length < end ? undefined : end;
}

/** An HTTP/1.1 request without a body. */
export interface FirstRequest {
  readonly method: string;
  readonly path: string;
  readonly authority: string;
  /** Headers as a flat list of alternating names and values. */
  readonly rawHeaders: readonly string[];
}

/** Headers that are not used in HTTP/2. */
const DROPPED: ReadonlySet<string> = new Set([
  'connection',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
]);

/** Encodes a request as stream 1, already ended. */
export function requestFrames({ method, path, authority, rawHeaders }: FirstRequest): Buffer {
  const fields = [
    field(':method', method),
    field(':scheme', 'http'),
    field(':authority', authority),
    field(':path', path),
  ];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase();
    if (!DROPPED.has(name)) fields.push(field(name, rawHeaders[at + 1]!));
  }
  const block = Buffer.concat(fields);
  const frames: Buffer[] = [];
  for (let start = 0; start < block.length; start += FRAME_BYTES) {
    const chunk = block.subarray(start, start + FRAME_BYTES);
    const isLast = start + FRAME_BYTES >= block.length;
    const head = Buffer.alloc(FRAME_HEAD_BYTES);
    head.writeUIntBE(chunk.length, 0, 3);
    head[3] = start === 0 ? HEADERS : CONTINUATION;
    head[4] = (start === 0 ? END_STREAM : 0) | (isLast ? END_HEADERS : 0);
    head.writeUInt32BE(1, 5);
    frames.push(head, chunk);
  }
  return Buffer.concat(frames);
}

/** Encodes one header as an HPACK literal: new name, not indexed, not compressed. */
function field(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.of(0), text(name), text(value)]);
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1');
  return Buffer.concat([length(bytes.length), bytes]);
}

/** Encodes an integer with a 7-bit prefix (RFC 7541, section 5.1). */
function length(value: number): Buffer {
  if (value < 127) return Buffer.of(value);
  const bytes = [127];
  let rest = value - 127;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  bytes.push(rest);
  return Buffer.from(bytes);
}
