import type { AnswerHandler } from './answer-handler.ts';
import type { Payload } from './payload.ts';
import type { RedirectSource } from './redirect.ts';

/** One attempt to send a request. */
export interface Sending {
  readonly origin: string;
  readonly path: string;
  readonly method: string;
  /** Alternating names and values; the name `Host` has exactly this case. */
  readonly headers: readonly string[];
  readonly body: Payload;
  /** Length of a streamed body, if it is known. Its `Content-Length` is among the headers. */
  readonly length: number | undefined;
  /** Whether the connection is closed after the response. */
  readonly isLast: boolean;
}

/** Sends requests over connections. */
export interface Dispatching {
  /** @param forceNew whether to use a new connection, if the dispatcher manages connections. */
  dispatch(sending: Sending, handler: AnswerHandler, forceNew?: boolean): void;
  /** Closes every connection after its pending response. */
  close(): Promise<void>;
}

/** @param list headers to send. @param length length of a streamed payload, if it is known. */
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
