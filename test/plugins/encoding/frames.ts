import { crc32 } from 'node:zlib';

/** Writes one AWS event frame; header values are strings. */
export function frame(headers: Readonly<Record<string, string>>, payload: string | Uint8Array): Buffer {
  return rawFrame(
    Buffer.concat(Object.entries(headers).map(([name, value]) => header(name, 7, sized(value)))),
    payload,
  );
}

/** Writes one frame with encoded headers. */
export function rawFrame(headers: Uint8Array, payload: string | Uint8Array): Buffer {
  const body = Buffer.from(payload as string);
  const prelude = Buffer.alloc(8);
  prelude.writeUInt32BE(16 + headers.length + body.length, 0);
  prelude.writeUInt32BE(headers.length, 4);
  const head = Buffer.concat([prelude, checksum(prelude), headers, body]);
  return Buffer.concat([head, checksum(head)]);
}

/** One header: name, type and the bytes of its value. */
export function header(name: string, type: number, value: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([name.length]), Buffer.from(name), Buffer.from([type]), value]);
}

/** Bytes with a length prefix, as in headers of type 6 and 7. */
export function sized(value: string | Uint8Array): Buffer {
  const bytes = Buffer.from(value as string);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

function checksum(bytes: Uint8Array): Buffer {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(bytes));
  return sum;
}
