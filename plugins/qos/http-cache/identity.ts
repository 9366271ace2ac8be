import type { PipeRequest } from '#contract';

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

/** What an answer may depend on besides its address and its `Vary`. */
export function identityOf({ headers: { list }, host }: PipeRequest): string {
  let identity = host ?? '';
  for (let at = 0; at < list.length; at += 2) {
    const name = list[at]!;
    if (!lengths.has(name.length)) continue;
    const lower = name.toLowerCase();
    if (heeded.has(lower)) identity += `\n${lower}:${list[at + 1]}`;
  }
  return identity;
}
