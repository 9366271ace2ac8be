import { type HeaderBag, isHopByHop } from '#contract';

/** Lengths of the names `isHopByHop` and `isFraming` know, but for `proxy-`: any other name needs no closer look. */
const noted = new Uint8Array(64);
for (const name of ['te', 'host', 'expect', 'trailer', 'connection', 'content-length', 'accept-encoding']) {
  noted[name.length] = 1;
}
noted['transfer-encoding'.length] = 1;

/** True when a name of any case may be one of those that are looked at closer. */
function isNoted(name: string): boolean {
  const first = name.charCodeAt(0) | 32;
  return noted[name.length & 63] === 1 || (first === 112 && name.charCodeAt(5) === 45);
}

/** Headers of the request's framing, which the client library writes itself. */
function isFraming(name: string): boolean {
  return name === 'host' || name === 'content-length' || name === 'expect';
}

/** The headers for the wire, as one flat list, and whether gzip was asked for on the gateway's own account. */
export class Outgoing {
  readonly list: string[] = [];
  asksGzip: boolean;

  /** @param mayAskGzip add `Accept-Encoding: gzip` where the request has no `Accept-Encoding` and wants no range. */
  constructor(headers: HeaderBag, mayAskGzip: boolean) {
    const from = headers.list;
    const { list } = this;
    let asksGzip = mayAskGzip;
    for (let at = 0; at < from.length; at += 2) {
      const name = from[at]!;
      if (name.length === 5 && asksGzip && name.toLowerCase() === 'range') asksGzip = false;
      if (isNoted(name)) {
        const lower = name.toLowerCase();
        if (lower === 'accept-encoding') asksGzip = false;
        else if (isFraming(lower) || isHopByHop(lower)) continue;
      }
      list.push(name, from[at + 1]!);
    }
    if (asksGzip) list.push('Accept-Encoding', 'gzip');
    this.asksGzip = asksGzip;
  }
}

/** An answer's headers as one flat list without those of the connection, names and values as they came. */
export class Incoming {
  readonly list: string[];
  /** What HTTP/1.1 does not allow about the length of the body; null for nothing. */
  readonly fault: string | null;
  /** More fields may come behind the body. */
  readonly allowsTrailers: boolean;

  /** @param raw names and values in turn: bytes over HTTP/1.1, texts over HTTP/2, which has checked them. */
  constructor(raw: readonly Buffer[] | readonly string[]) {
    if (isText(raw)) {
      this.list = raw[0] === ':status' ? raw.slice(2) : [...raw];
      this.allowsTrailers = true;
      this.fault = null;
      return;
    }
    const framing: Framing = { codings: null, fault: null };
    this.list = raw.length === 0 ? [] : readHeaders(raw, framing);
    const { codings, fault } = framing;
    this.allowsTrailers = codings !== null;
    this.fault = codings === null || codings.toLowerCase() === 'chunked' ? fault : 'unknown Transfer-Encoding';
  }
}

function isText(raw: readonly Buffer[] | readonly string[]): raw is readonly string[] {
  return typeof raw[0] === 'string';
}

/** What the headers say of the body's length. */
interface Framing {
  /** Every `Transfer-Encoding`, joined. */
  codings: string | null;
  fault: string | null;
}

/** Digits of a length that can be counted to. */
const MAX_LENGTH_DIGITS = 15;

function readHeaders(raw: readonly Buffer[], framing: Framing): string[] {
  const list: string[] = [];
  const first = raw[0]!;
  const last = raw[raw.length - 1]!;
  const memory = first.buffer;
  const start = first.byteOffset;
  const end = last.byteOffset + last.length;
  // Headers that came in one piece lie side by side: one decoding, then cuts from it, costs less than half.
  const block = last.buffer === memory && end > start ? Buffer.from(memory, start, end - start).toString('latin1') : '';
  let named: string | null = null;
  for (let at = 0; at < raw.length; at += 2) {
    const name = text(raw[at]!, memory, start, block);
    const value = text(raw[at + 1]!, memory, start, block);
    if (isNoted(name)) {
      const lower = name.toLowerCase();
      if (lower === 'connection') named = named === null ? value : `${named},${value}`;
      else if (lower === 'transfer-encoding')
        framing.codings = framing.codings === null ? value : `${framing.codings},${value}`;
      else if (lower === 'content-length' && value.length > MAX_LENGTH_DIGITS)
        framing.fault = 'Content-Length too large';
      if (isHopByHop(lower)) continue;
    }
    list.push(name, value);
  }
  return named === null || named === 'keep-alive' || named === 'close' ? list : without(list, named);
}

function text(bytes: Buffer, memory: ArrayBufferLike, start: number, block: string): string {
  if (block === '' || bytes.buffer !== memory) return bytes.toString('latin1');
  const from = bytes.byteOffset - start;
  return from >= 0 && from + bytes.length <= block.length
    ? block.substring(from, from + bytes.length)
    : bytes.toString('latin1');
}

/** Drops the headers that a `Connection` header names. */
function without(list: string[], connection: string): string[] {
  const names = new Set(connection.split(',').map((token) => token.trim().toLowerCase()));
  // These describe the message, not the connection; no answer can take them away by naming them.
  names.delete('content-length');
  names.delete('content-type');
  const kept: string[] = [];
  for (let at = 0; at < list.length; at += 2) {
    if (!names.has(list[at]!.toLowerCase())) kept.push(list[at]!, list[at + 1]!);
  }
  return kept;
}

/** The flat list as a record, repeated names as arrays: the form proxied dispatchers understand. */
export function headerRecord(list: readonly string[]): Record<string, string | string[]> {
  const record: Record<string, string | string[]> = Object.create(null);
  for (let at = 0; at < list.length; at += 2) {
    const name = list[at]!;
    const value = list[at + 1]!;
    const earlier = record[name];
    if (earlier === undefined) record[name] = value;
    else if (typeof earlier === 'string') record[name] = [earlier, value];
    else earlier.push(value);
  }
  return record;
}
