import { type Call, type ClientRequest, HeaderBag, isHeaderName, isHopByHop } from '#contract';

/** A change of one header. `add` applies only if the header is absent, `replace` only if it is present. */
export interface HeaderChange {
  readonly action: 'set' | 'append' | 'add' | 'replace' | 'remove';
  readonly name: string;
  readonly value: string;
}

/** Decision of the server to accept a request. */
export interface Accepted {
  readonly accepted: true;
  /** Changes of the request to backends. */
  readonly request: readonly HeaderChange[];
  /** Changes of the response to the client. */
  readonly response: readonly HeaderChange[];
  /** Maximum time in the cache that the server allows, in milliseconds; 0 if it must not be cached. */
  readonly cacheableMs: number;
}

/** The server rejects the request, with this response to the client. */
export interface Rejected {
  readonly accepted: false;
  readonly status: number;
  readonly headers: HeaderBag;
  readonly body: Uint8Array | null;
}

export type Decision = Accepted | Rejected;

/** Sends a request for a decision. @param body null if bodies are not sent. @throws Undecided without a decision; the abort reason of a call that has ended. */
export type Decide = (request: ClientRequest, body: Uint8Array | null, call: Call) => Promise<Decision>;

/** Headers for message framing and routing, which belong to the gateway. */
const framing = new Set(['content-length', 'content-encoding', 'content-type', 'expect', 'host']);

/** Whether a server may change this header of requests. @param name lowercase. */
export function isChangeable(name: string): boolean {
  return isHeaderName(name) && !isHopByHop(name) && !framing.has(name);
}

/** Applies header changes. Values that are not valid in a header are dropped. */
export function change(headers: HeaderBag, changes: readonly HeaderChange[]): void {
  for (const { action, name, value } of changes) {
    const lower = name.toLowerCase();
    const exists = headers.has(lower);
    if (action === 'remove') headers.delete(lower);
    else if (/[\x00-\x08\x0a-\x1f\x7f]/.test(value)) continue;
    else if (action === 'append') headers.append(name, value);
    else if (action === 'set' || (action === 'replace') === exists) headers.set(name, value);
  }
}

/** Selects the headers of a server's response that may be passed to the client. */
export function endToEnd(headers: HeaderBag): HeaderBag {
  const names = headers.getAll('connection').flatMap((value) => value.toLowerCase().split(','));
  const listed = new Set(names.map((name) => name.trim()));
  const kept = new HeaderBag();
  for (const [name, value] of headers) {
    const lower = name.toLowerCase();
    if (!isHopByHop(lower) && !listed.has(lower) && lower !== 'content-length') kept.append(name, value);
  }
  return kept;
}
