import {
  BackendError,
  type DataObject,
  HeaderBag,
  isObject,
  type Log,
  type PipeRequest,
  RequestBody,
  type Step,
} from '#contract';
import { textOf } from '../../shared/calls/body.ts';
import { underOwnCall } from '../../shared/calls/own-call.ts';
import { requestTo } from '../../shared/calls/request-to.ts';

/** Maximum size of a response, in bytes. */
const MAX_BYTES = 4 * 1024 * 1024;

/** HTTP client of a store of secrets. */
export interface StoreClient {
  readonly send: Step<PipeRequest>;
  readonly log: Log;
  readonly timeoutMs: number;
}

/** A request to a store of secrets. */
export interface StoreRequest {
  readonly method: string;
  readonly url: URL;
  /** Alternating names and values. */
  readonly headers: readonly string[];
  readonly body?: string | undefined;
}

/** Response of a store of secrets. */
export interface StoreResponse {
  readonly status: number;
  readonly headers: HeaderBag;
  /** Parsed body; an empty object if the body is not a JSON object. */
  readonly data: DataObject;
}

/** Sends a request and reads the response. @throws BackendError if the store cannot be reached, or its response is too large. */
export function fetchJson(
  { send, log, timeoutMs }: StoreClient,
  { method, url, headers, body }: StoreRequest,
  signal: AbortSignal,
): Promise<StoreResponse> {
  return underOwnCall(log, timeoutMs, signal, async (call) => {
    const payload = body === undefined ? null : RequestBody.of(body);
    const reply = await send(requestTo(url, method, new HeaderBag([...headers]), payload), call);
    if (reply.errors.length > 0) throw reply.errors[0]!;
    return { status: reply.status, headers: reply.headers, data: parsed(await textOf(reply, MAX_BYTES)) };
  });
}

function parsed(text: string): DataObject {
  try {
    const data: unknown = JSON.parse(text);
    return isObject(data) ? data : {};
  } catch {
    return {};
  }
}

/** Error for a response that is not a success, with a reason of the store: at most 200 printable characters. */
export function storeError(code: string, status: number, reason: string): BackendError {
  const shown = reason
    .replaceAll(/[^\x20-\x7e]+/g, ' ')
    .trim()
    .slice(0, 200);
  return new BackendError(code, shown === '' ? `status ${status}` : `status ${status}: ${shown}`, {
    upstreamStatus: status,
  });
}
