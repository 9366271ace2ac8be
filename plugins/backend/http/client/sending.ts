import type { Payload } from './payload.ts';
import type { RedirectSource } from './redirect.ts';

/** One attempt at a request, as connections are handed it. */
export interface Sending {
  readonly origin: string;
  readonly path: string;
  readonly method: string;
  /** Names and values in turn; `Host` as it is written here. */
  readonly headers: readonly string[];
  readonly body: Payload;
  /** Bytes of a body that is a stream, where they are known; its `Content-Length` is among the headers. */
  readonly length: number | undefined;
  /** The connection is closed after the answer. */
  readonly isLast: boolean;
}

/** @param list headers for the wire. @param length of a payload that is a stream, where it is known. */
export function sending(
  { origin, target, host, method }: RedirectSource,
  list: string[],
  payload: Payload,
  length: number | undefined,
  isLast: boolean,
): Sending {
  const isStream = payload !== null && !(payload instanceof Uint8Array);
  if (isStream && length !== undefined) list.push('Content-Length', String(length));
  if (host !== null) list.push('Host', host);
  return { origin, path: target, method, headers: list, body: payload, length: isStream ? length : undefined, isLast };
}
