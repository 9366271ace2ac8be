import type { Dispatcher } from 'undici';
import { headerRecord } from './headers.ts';
import type { OriginPool } from './origin-pool.ts';
import type { Payload } from './payload.ts';
import type { RedirectSource } from './redirect.ts';

/**
 * What the client library is told of one attempt.
 * @param list headers for the wire. @param length of a payload that is a stream, where it is known.
 * @param isLast the connection is closed after the answer.
 */
export function dispatchOptions(
  { origin, target, host, method }: RedirectSource,
  list: string[],
  payload: Payload,
  length: number | undefined,
  lane: OriginPool,
  isLast: boolean,
): Dispatcher.DispatchOptions {
  const isStream = payload !== null && !(payload instanceof Uint8Array);
  if (isStream && length !== undefined) list.push('Content-Length', String(length));
  if (host !== null) list.push('Host', host);
  return {
    origin,
    path: target,
    method,
    headers: lane.proxied ? headerRecord(list) : list,
    body: payload,
    servername: lane.serverName,
    reset: isLast ? true : undefined,
    headersTimeout: 0,
    bodyTimeout: 0,
  } as Dispatcher.DispatchOptions;
}
