import type { PipeRequest } from '#contract';
import { ANY_HEADER } from '../../services/personal-headers.ts';

/**
 * Headers that many backends heed for the address they believe to be at, or the method they believe to be asked with, and
 * hardly ever name in `Vary`. Somebody who may choose them must not choose what others are given.
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

/** Lengths of those names: any other header needs no closer look. */
const lengths = new Set([...heeded].map((name) => name.length));

/** Headers that nobody sets to tell who asks, where any other may be made of a token. */
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

/** What an answer may depend on besides its address, although it does not say so in `Vary`. */
export interface Asker {
  /** The service that the backend believes to be asked, and with whose credentials. */
  readonly identity: string;
  /** Who asks, as the gateway tells the backend: an answer that is for all does not depend on it. */
  readonly person: string;
}

/**
 * @param realm whose credentials the backend is sent behind the cache.
 * @param personal names of headers that may tell who asks.
 * @param requestId header of request ids, which tells nobody; empty for none.
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

/** @returns null where no header tells who asks. */
function nameCheck(personal: readonly string[], requestId: string): ((lowerCaseName: string) => boolean) | null {
  if (personal.length === 0) return null;
  if (personal.includes(ANY_HEADER)) return (name) => name !== requestId && !impersonal.has(name);
  const names = new Set(personal.map((name) => name.toLowerCase()));
  return (name) => names.has(name);
}
