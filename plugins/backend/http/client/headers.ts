import { type HeaderBag, isHopByHop } from '#contract';

/**
 * Lengths of the names that `isHopByHop` and `isFraming` know, except for `proxy-*`. A name of any other length needs
 * no further check.
 */
const noted = new Uint8Array(64);
for (const name of ['te', 'host', 'expect', 'trailer', 'connection', 'content-length', 'accept-encoding']) {
  noted[name.length] = 1;
}
noted['transfer-encoding'.length] = 1;

/** Whether a name, in any case, may be one that needs a further check. */
function isNoted(name: string): boolean {
  const first = name.charCodeAt(0) | 32;
  return noted[name.length & 63] === 1 || (first === 112 && name.charCodeAt(5) === 45);
}

/** Framing headers of a request, which the client library writes itself. */
function isFraming(name: string): boolean {
  return name === 'host' || name === 'content-length' || name === 'expect';
}

/** Headers to send as a flat list, and whether the gateway itself requests gzip. */
export class Outgoing {
  readonly list: string[] = [];
  asksGzip: boolean;

  /** @param mayAskGzip whether to add `Accept-Encoding: gzip` if the request has no `Accept-Encoding` and no `Range`. */
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

/** Collects the headers of a response as they arrive, and separates those of the connection. */
export class Fields {
  /** Alternating names and values. */
  list: string[] = [];
  /** All `Connection` values, joined; null without any. */
  connection: string | null = null;
  /** All `Transfer-Encoding` values, joined; null without any. */
  codings: string | null = null;
  /** The last `Content-Length`, and the number of such headers. */
  length = '';
  lengths = 0;
  keepAlive: string | null = null;

  add(name: string, value: string): void {
    if (isNoted(name)) {
      const lower = name.toLowerCase();
      this.#note(lower, value);
      if (isHopByHop(lower)) return;
    }
    this.list.push(name, value);
  }

  /** Called after the last header: removes the headers named by `Connection`. */
  settle(): void {
    const { connection } = this;
    if (connection === null || connection === 'keep-alive' || connection === 'close') return;
    this.list = without(this.list, connection);
  }

  #note(name: string, value: string): void {
    if (name === 'connection') this.connection = joined(this.connection, value);
    else if (name === 'transfer-encoding') this.codings = joined(this.codings, value);
    else if (name === 'keep-alive') this.keepAlive = value;
    else if (name === 'content-length') {
      this.length = value;
      this.lengths += 1;
    }
  }
}

function joined(before: string | null, value: string): string {
  return before === null ? value : `${before},${value}`;
}

/** Head of a response, for the caller. */
export interface Incoming {
  /** Alternating names and values, without the headers of the connection. */
  readonly list: string[];
  /** Whether trailers may follow the body. */
  readonly allowsTrailers: boolean;
  /** Violation of HTTP/1.1 in the length of the body, if it was not checked before. */
  readonly fault?: string | undefined;
}

/** Maximum number of digits of a length that is an exact integer. */
export const MAX_LENGTH_DIGITS = 15;

/**
 * Head of a response read by another client.
 * @param raw alternating names and values: bytes for HTTP/1.1, strings for HTTP/2.
 */
export function incoming(raw: readonly Buffer[] | readonly string[]): Incoming {
  if (isText(raw)) return { list: raw[0] === ':status' ? raw.slice(2) : [...raw], allowsTrailers: true };
  const fields = new Fields();
  for (let at = 0; at < raw.length; at += 2) fields.add(raw[at]!.toString('latin1'), raw[at + 1]!.toString('latin1'));
  fields.settle();
  const { list, codings, length } = fields;
  return { list, allowsTrailers: codings !== null, fault: faultOf(codings, length) };
}

function faultOf(codings: string | null, length: string): string | undefined {
  if (codings !== null && codings.toLowerCase() !== 'chunked') return 'unknown Transfer-Encoding';
  return length.length > MAX_LENGTH_DIGITS ? 'Content-Length too large' : undefined;
}

function isText(raw: readonly Buffer[] | readonly string[]): raw is readonly string[] {
  return typeof raw[0] === 'string';
}

/** Removes the headers named by a `Connection` header. */
function without(list: string[], connection: string): string[] {
  const names = new Set(connection.split(',').map((token) => token.trim().toLowerCase()));
  // Naming these headers in `Connection` does not remove them, because they describe the message and not the
  // connection.
  names.delete('content-length');
  names.delete('content-type');
  const kept: string[] = [];
  for (let at = 0; at < list.length; at += 2) {
    if (!names.has(list[at]!.toLowerCase())) kept.push(list[at]!, list[at + 1]!);
  }
  return kept;
}

/** Converts the flat list to a record with arrays for repeated names, as proxied dispatchers require. */
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
