import { isUtf8 } from 'node:buffer';
import type { X509Certificate } from 'node:crypto';
import { BinaryWriter } from '@bufbuild/protobuf/wire';
import type { ClientRequest, HeaderBag } from '#contract';
import { targetOf } from './client-headers.ts';

/** Writes the content of a protocol buffers message. */
type Write = (writer: BinaryWriter) => void;

/** Wire types of protocol buffers. */
const VARINT = 0;
const LENGTH = 2;

function message(writer: BinaryWriter, field: number, write: Write): void {
  writer.tag(field, LENGTH).fork();
  write(writer);
  writer.join();
}

function text(writer: BinaryWriter, field: number, value: string): void {
  if (value !== '') writer.tag(field, LENGTH).string(value);
}

function entry(writer: BinaryWriter, field: number, key: string, value: string): void {
  message(writer, field, (pair) => {
    text(pair, 1, key);
    text(pair, 2, value);
  });
}

/** Content of a request that the server decides on. */
export interface Checked {
  readonly request: ClientRequest;
  /** Headers that the server receives. */
  readonly headers: HeaderBag;
  readonly body: Uint8Array | null;
  readonly requestId: string;
  readonly extensions: Readonly<Record<string, string>>;
}

/** Encodes an `envoy.service.auth.v3.CheckRequest`. */
export function encodeCheck(checked: Checked): Uint8Array {
  const writer = new BinaryWriter();
  message(writer, 1, (attributes) => {
    message(attributes, 1, (source) => writePeer(source, checked.request));
    message(attributes, 4, (request) => {
      const now = Date.now();
      message(request, 1, (time) =>
        time
          .tag(1, VARINT)
          .int64(Math.floor(now / 1000))
          .tag(2, VARINT)
          .int32((now % 1000) * 1e6),
      );
      message(request, 2, (http) => writeHttp(http, checked));
    });
    for (const [key, value] of Object.entries(checked.extensions)) entry(attributes, 10, key, value);
  });
  return writer.finish();
}

function writePeer(writer: BinaryWriter, { ip, certificate }: ClientRequest): void {
  message(writer, 1, (address) =>
    message(address, 1, (socket) => {
      text(socket, 2, ip);
      // The port belongs to a oneof of the message, so it is written even if its value is unknown.
      socket.tag(3, VARINT).uint32(0);
    }),
  );
  if (certificate) text(writer, 4, principalOf(certificate));
}

/** Identity of a certificate: the first URI or DNS name, otherwise its subject. */
function principalOf({ subjectAltName = '', subject }: X509Certificate): string {
  return /\bURI:([^,]+)/.exec(subjectAltName)?.[1] ?? /\bDNS:([^,]+)/.exec(subjectAltName)?.[1] ?? subject ?? '';
}

function writeHttp(writer: BinaryWriter, { request, headers, body, requestId }: Checked): void {
  const { method, host, secure, raw } = request;
  const path = targetOf(request);
  const scheme = secure ? 'https' : 'http';
  text(writer, 1, requestId);
  text(writer, 2, method);
  for (const [name, value] of merged(headers)) entry(writer, 3, name, value);
  entry(writer, 3, ':method', method);
  entry(writer, 3, ':path', path);
  entry(writer, 3, ':authority', host);
  entry(writer, 3, ':scheme', scheme);
  text(writer, 4, utf8(path));
  text(writer, 5, utf8(host));
  text(writer, 6, scheme);
  writer.tag(9, VARINT).int64(request.body ? (request.body.length ?? -1) : 0);
  const version = raw?.request.httpVersion ?? '1.1';
  text(writer, 10, `HTTP/${version === '2.0' ? '2' : version}`);
  if (!body || body.length === 0) return;
  if (isUtf8(body)) writer.tag(11, LENGTH).bytes(body);
  else writer.tag(12, LENGTH).bytes(body);
}

/** Values by lowercase name; repeated headers are joined, cookies as one header. */
function merged(headers: HeaderBag): Map<string, string> {
  const values = new Map<string, string>();
  for (const [name, value] of headers) {
    const lower = name.toLowerCase();
    const before = values.get(lower);
    values.set(lower, before === undefined ? utf8(value) : `${before}${lower === 'cookie' ? '; ' : ','}${utf8(value)}`);
  }
  return values;
}

/** Decodes header bytes, which arrive as Latin-1, as UTF-8 if they are. */
function utf8(value: string): string {
  if (/^[\x00-\x7f]*$/.test(value)) return value;
  const bytes = Buffer.from(value, 'latin1');
  return isUtf8(bytes) ? bytes.toString() : value;
}
