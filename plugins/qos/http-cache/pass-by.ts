import type { Call, PipeRequest, Reply, Step } from '#contract';
import { type Caching, keyOf } from './caching.ts';

/** Sends a request that bypasses the store. If it changes something at its address, the responses stored for the address are invalidated. */
export async function passBy(
  caching: Caching,
  next: Step<PipeRequest>,
  request: PipeRequest,
  call: Call,
): Promise<Reply> {
  const { method, origin, target } = request;
  caching.counted('bypass');
  const reply = await next(request, call);
  const isSafe = method === 'GET' || method === 'HEAD' || method === 'OPTIONS' || method === 'TRACE';
  if (isSafe || reply.errors.length > 0 || reply.status >= 400) return reply;
  const keys = addressesChanged(origin, target, reply).flatMap((each) => [
    keyOf('GET', origin, each),
    keyOf('HEAD', origin, each),
  ]);
  for (const key of keys) caching.store.changed(key);
  caching.gateway?.drop(keys);
  return reply;
}

/** The requested address, and addresses of the same origin that the response names. */
function addressesChanged(origin: string, target: string, { headers }: Reply): string[] {
  const targets = new Set([target]);
  for (const header of ['location', 'content-location']) {
    const url = URL.parse(headers.get(header) ?? '', origin + target);
    if (url && url.origin === new URL(origin).origin) targets.add(url.pathname + url.search);
  }
  return [...targets];
}
