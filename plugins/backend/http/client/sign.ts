import type { Call, HeaderBag, HttpSigner } from '#contract';
import type { Payload } from './payload.ts';
import type { RedirectSource } from './redirect.ts';
import { urlOf } from './socket-address.ts';

/** Returns the headers of one attempt, signed by all signers in turn. The original headers remain unsigned. */
export async function signed(
  { method, origin, target, host, headers, redirects: hops }: RedirectSource,
  signers: readonly HttpSigner[],
  payload: Payload,
  call: Call,
): Promise<HeaderBag> {
  const body = payload instanceof Uint8Array ? payload : null;
  const signedHost = host ?? urlOf(origin).host;
  const attempt = { method, origin, target, host: signedHost, headers: headers.copy(), body, redirects: hops };
  for (const signer of signers) await signer.sign(attempt, call);
  return attempt.headers;
}
