import type { PipeRequest } from '#contract';
import { ANY_HEADER } from '../../shared/http-headers/personal.ts';

/**
 * Headers that many backends use as their own address or as the request method, but rarely list in `Vary`. A client
 * that can set them must not determine the responses of others.
 */
const heeded = new Set([
  'forwarded',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-forwarded-scheme',
  'x-forwarded-port',
  'x-forwarded-server',
  'x-forwarded-prefix',
  'x-forwarded-path',
  'x-forwarded-uri',
  'x-forwarded-ssl',
  'front-end-https',
  'x-host',
  'x-http-host-override',
  'x-original-host',
  'x-original-url',
  'x-original-uri',
  'x-rewrite-url',
  'x-url-scheme',
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
]);

/** Lengths of the names above: headers of other lengths need no lookup. */
const lengths = new Set([...heeded].map((name) => name.length));

/** Headers that never identify a caller; any other header could be derived from a token. */
const impersonal = new Set([
  'accept',
  'accept-charset',
  'accept-encoding',
  'accept-language',
  'b3',
  'cache-control',
  'content-length',
  'content-type',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'pragma',
  'range',
  'traceparent',
  'tracestate',
  'user-agent',
  'via',
  'x-b3-parentspanid',
  'x-b3-sampled',
  'x-b3-spanid',
  'x-b3-traceid',
  'x-correlation-id',
  'x-forwarded-for',
  'x-forwarded-via',
  'x-real-ip',
  'x-request-id',
]);

/** Values that a response may depend on, other than its address, even though `Vary` does not list them. */
export interface Asker {
  /** The service that the backend considers to be addressed, and the credentials used. */
  readonly identity: string;
  /** The caller, as reported to the backend: a response for everyone does not depend on it. */
  readonly person: string;
}

/**
 * @param realm credentials that are sent to the backend behind the cache.
 * @param personal names of headers that may identify the caller.
 * @param requestId header of request ids, which do not identify anyone; empty for none.
 */
export function identifier(
  realm: string,
  personal: readonly string[],
  requestId = '',
): (request: PipeRequest) => Asker {
  const isPersonal = nameCheck(personal, requestId.toLowerCase());
  return ({ headers: { list }, host }) => {
    let identity = realm + (host ?? '');
    let person = '';
    for (let at = 0; at < list.length; at += 2) {
      const name = list[at]!;
      const isHeeded = lengths.has(name.length);
      if (!isHeeded && isPersonal === null) continue;
      const lower = name.toLowerCase();
      if (isHeeded && heeded.has(lower)) identity += `\n${lower}:${list[at + 1]}`;
      else if (isPersonal?.(lower)) person += `\n${lower}:${list[at + 1]}`;
    }
    return { identity, person };
  };
}

/** @returns null when no header identifies the caller. */
function nameCheck(personal: readonly string[], requestId: string): ((lowerCaseName: string) => boolean) | null {
  if (personal.length === 0) return null;
  if (personal.includes(ANY_HEADER)) return (name) => name !== requestId && !impersonal.has(name);
  const names = new Set(personal.map((name) => name.toLowerCase()));
  return (name) => names.has(name);
}
