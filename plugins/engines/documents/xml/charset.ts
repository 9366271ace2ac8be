import { TextDecoder } from 'node:util';

const declaration = /^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([\w.:-]+)["']/;

/** Number of bytes of a document that are searched for its declaration. */
const DECLARATION_BYTES = 256;

/**
 * Decodes an XML document by its byte order mark, otherwise by its declared encoding, otherwise as UTF-8.
 * @throws Error for an unknown encoding and for bytes that are invalid in it.
 */
export function decodeXml(bytes: Uint8Array): string {
  const label = charsetOf(bytes);
  let decoder: TextDecoder;
  try {
    decoder = new TextDecoder(label, { fatal: true });
  } catch {
    throw new Error(`unsupported XML encoding ${JSON.stringify(label)}`);
  }
  try {
    return decoder.decode(bytes);
  } catch {
    throw new Error(`invalid ${decoder.encoding.toUpperCase()} in XML`);
  }
}

function charsetOf(bytes: Uint8Array): string {
  const [first = -1, second = -1, third = -1] = bytes;
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if ((first === 0xff && second === 0xfe) || (first === 0x3c && second === 0)) return 'utf-16le';
  if ((first === 0xfe && second === 0xff) || (first === 0 && second === 0x3c)) return 'utf-16be';
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, DECLARATION_BYTES));
  const label = declaration.exec(head.toString('latin1'))?.[1]?.toLowerCase() ?? 'utf-8';
  // A declaration that can be read byte by byte excludes UTF-16, regardless of the declared encoding.
  return label.startsWith('utf-16') ? 'utf-8' : label;
}
