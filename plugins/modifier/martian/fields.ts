import { canonicalHeaderName, type HeaderBag, isHeaderName, isHopByHop, type PipeRequest, type Reply } from '#contract';
import { failure, type Place } from './modifier.ts';

/** Access to one header of a message. */
export interface Field<M> {
  all(message: M): readonly string[];
  set(message: M, value: string): void;
  append(message: M, value: string): void;
  remove(message: M): void;
}

/** Returns the request header of that name. `Host` and `Content-Length` are stored separately from the other headers. */
export function requestField(name: string): Field<PipeRequest> {
  const lower = name.toLowerCase();
  if (lower === 'host') return host;
  if (lower === 'content-length') return requestLength;
  return isOfConnection(name) ? nothing : plain(name);
}

/** Returns the response header of that name. */
export function replyField(name: string): Field<Reply> {
  if (name.toLowerCase() === 'content-length') return replyLength;
  return isOfConnection(name) ? nothing : plain(name);
}

/** Returns the authority of an address, as in `host:port`. */
export function authorityOf(origin: string): string {
  return new URL(origin).host;
}

/**
 * Headers of the connection rather than the message: the gateway writes them itself, and any other value would break
 * the framing.
 */
function isOfConnection(name: string): boolean {
  const lower = name.toLowerCase();
  return isHopByHop(lower) || lower === 'expect';
}

function plain(name: string): Field<{ readonly headers: HeaderBag }> {
  const lower = name.toLowerCase();
  const written = canonicalHeaderName(name);
  return {
    all: ({ headers }) => headers.getAll(lower),
    set: ({ headers }, value) => headers.set(written, value),
    append: ({ headers }, value) => headers.append(written, value),
    remove: ({ headers }) => headers.delete(lower),
  };
}

const nothing: Field<unknown> = { all: () => [], set() {}, append() {}, remove() {} };

const host: Field<PipeRequest> = {
  all: ({ host, origin }) => [host ?? authorityOf(origin)],
  set(request, value) {
    request.host = value;
  },
  append() {
    throw failure('Host can have only one value');
  },
  remove(request) {
    request.host = null;
  },
};

const requestLength: Field<PipeRequest> = {
  all: ({ body }) => (body?.length === undefined ? [] : [String(body.length)]),
  set({ body }, value) {
    holds(value, body ? body.length : 0);
  },
  append() {
    throw failure('Content-Length can have only one value');
  },
  // This header is kept, because without a length the body would be sent in chunks.
  remove() {},
};

const replyLength: Field<Reply> = {
  all: ({ headers }) => headers.getAll('content-length'),
  set(reply, value) {
    const { body, headers } = reply;
    const declared = headers.get('content-length');
    const unread = body === null ? 0 : undefined;
    holds(value, body instanceof Uint8Array ? body.length : declared === undefined ? unread : Number(declared));
    headers.set('Content-Length', value);
  },
  append() {
    throw failure('Content-Length can have only one value');
  },
  remove: ({ headers }) => headers.delete('content-length'),
};

/** Whether a length is the actual length of the body; any other would truncate the body, or make the receiver wait. */
function holds(value: string, length: number | undefined): void {
  if (Number(value) !== length)
    throw failure(`Content-Length ${value} does not match the body of ${length ?? 'unknown'} bytes`);
}

/** Rejects invalid header names, and warns about names that have no effect. @throws ConfigError MARTIAN_HEADER */
export function checkName(place: Place, at: string, name: string): void {
  if (!isHeaderName(name))
    throw place.fault(at, `"${name}" is not a valid header name`, { hint: 'letters, digits and -' });
  if (isOfConnection(name)) {
    place.warn(at, `"${name}" is set by the gateway itself: this modifier has no effect`);
  }
}

/** Rejects invalid header values. @returns the value as sent on the wire. @throws ConfigError */
export function checkValue(place: Place, at: string, name: string, value: string): string {
  if (/[\x00-\x08\x0a-\x1f\x7f]/.test(value)) throw place.fault(at, 'the value contains control characters');
  if (name.toLowerCase() === 'content-length' && !/^\d{1,15}$/.test(value)) {
    throw place.fault(at, 'Content-Length must be a whole number');
  }
  return wireText(value);
}

/** Converts a text to one character per UTF-8 byte, which is how headers are stored. */
export function wireText(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}
