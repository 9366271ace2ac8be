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

/** The headers of an answer as they come: those of the connection are set apart. */
export class Fields {
  /** Names and values in turn. */
  list: string[] = [];
  /** Every `Connection`, joined; null for none. */
  connection: string | null = null;
  /** Every `Transfer-Encoding`, joined; null for none. */
  codings: string | null = null;
  /** The last `Content-Length`, and how many there are. */
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

  /** All are there: what `Connection` names is not for the client. */
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

/** What the caller learns of an answer's head. */
export interface Incoming {
  /** Names and values in turn, without the headers of the connection. */
  readonly list: string[];
  /** More fields may come behind the body. */
  readonly allowsTrailers: boolean;
  /** What HTTP/1.1 does not allow about the length of the body, where nobody has looked at it before. */
  readonly fault?: string | undefined;
}

/** Digits of a length that can be counted to. */
export const MAX_LENGTH_DIGITS = 15;

/**
 * The head of an answer that another client has read.
 * @param raw names and values in turn: bytes over HTTP/1.1, texts over HTTP/2.
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
