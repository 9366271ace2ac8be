import {
  type BackendSite,
  type Call,
  type CallError,
  claimsSlot,
  discard,
  type MessageHook,
  type PipeRequest,
  Reply,
  toCallError,
  type Wrap,
} from '#contract';
import type { Readable } from './variables.ts';

/** Conditions that are evaluated together. */
export interface Conditions {
  /** Whether there are any conditions. */
  readonly any: boolean;
  /** Whether a condition reads a variable whose name starts with the prefix. */
  reads(prefix: string): boolean;
  /** The conditions that read the data of responses, or all others. */
  readingData(reads: boolean): Conditions;
  /**
   * @returns the error that ends the call; null when every condition is true.
   * @param isMessage true for a message of a stream, whose rejection is logged at DEBUG.
   */
  check(from: Readable, call: Call, isMessage?: boolean): CallError | null;
}

/** The context in which conditions are evaluated. */
export interface Stance {
  readonly pathOf: PathOf;
  /** Whether replies are passed through undecoded. */
  readonly raw: boolean;
}

/** The request path exposed to conditions. */
export type PathOf = (request: PipeRequest) => string;

/**
 * Evaluates conditions on the request before the rest of the pipe, and on the reply unless that is a failure or a
 * rejection. Request conditions may read `req_body`, which is then buffered in memory.
 * @returns undefined without conditions.
 */
export function conditional(
  before: Conditions,
  after: Conditions,
  { pathOf, raw }: Stance,
): Wrap<PipeRequest> | undefined {
  if (!before.any && !after.any) return undefined;
  const readsRequest = after.reads('req_');
  const readsPath = before.reads('req_path') || after.reads('req_path');
  const readsBody = before.reads('req_body');
  return (next) => {
    const respond = (reply: Reply, request: PipeRequest | null, path: string, call: Call): Reply => {
      if (isRefusal(reply)) return reply;
      const error = after.check({ request, path, reply, raw, claims: call.get(claimsSlot) }, call);
      if (!error) return reply;
      discard(reply.body);
      return Reply.failed(error);
    };
    const goOn = (request: PipeRequest, path: string, call: Call): Reply | Promise<Reply> => {
      if (!after.any) return next(request, call);
      // The request is copied, because conditions on the response are evaluated later and inner steps may change the
      // request.
      const seen = readsRequest ? request.copy() : null;
      const reply = next(request, call);
      if (!(reply instanceof Promise)) return respond(reply, seen, path, call);
      return reply.then((settled) => respond(settled, seen, path, call));
    };
    const start = (request: PipeRequest, call: Call, body?: Uint8Array): Reply | Promise<Reply> => {
      const path = readsPath ? pathOf(request) : '';
      if (before.any) {
        const error = before.check({ request, path, body, reply: null, raw, claims: call.get(claimsSlot) }, call);
        if (error) return Reply.failed(error);
      }
      return goOn(request, path, call);
    };
    if (!readsBody) return (request, call) => start(request, call);
    return (request, call) => {
      const bytes = request.body?.bytesToParse();
      if (!(bytes instanceof Promise)) return start(request, call, bytes);
      return bytes.then(
        (whole) => start(request, call, whole),
        (error) => Reply.failed(toCallError(error)),
      );
    };
  };
}

/** Hooks that check conditions in an endpoint or backend whose response is decoded or a stream of messages. */
export interface Attached {
  readonly wrap?: Wrap<PipeRequest>;
  readonly message?: MessageHook;
  readonly readsData?: true;
}

/**
 * Attaches conditions on requests and responses. In a stream of messages, the response conditions that read data are
 * evaluated for each message, with the request that the backend receives; a message that does not meet them is dropped.
 * Status and headers are not known there: conditions that need both require decoded data.
 */
export function attachConditions(before: Conditions, after: Conditions, stance: Stance, messages: boolean): Attached {
  const reading = after.readingData(true);
  const readsReply = reading.reads('resp_metadata') || reading.reads('resp_completed');
  if (!messages || !reading.any || readsReply) {
    const wrap = conditional(before, after, stance);
    return { ...(wrap && { wrap }), ...(reading.any && { readsData: true }) };
  }
  const wrap = conditional(before, after.readingData(false), stance);
  return { ...(wrap && { wrap }), message: filtering(reading, stance), readsData: true };
}

function filtering(conditions: Conditions, { pathOf, raw }: Stance): MessageHook {
  const readsPath = conditions.reads('req_path');
  return (data, request, call) => {
    const path = readsPath ? pathOf(request) : '';
    const from = { request, path, reply: Reply.data(data), raw, claims: call.get(claimsSlot) };
    return conditions.check(from, call, true) === null ? data : null;
  };
}

/** Whether the reply is a failure or a rejection, so that it has no data to evaluate. */
function isRefusal(reply: Reply): boolean {
  return reply.failed || reply.skipped || (reply.complete === null && reply.data === null && reply.body === null);
}

/** Decoded path that the client requested. */
export const endpointPath: PathOf = ({ client }) => {
  try {
    return decodeURIComponent(client.path);
  } catch {
    return client.path;
  }
};

/** Path requested from the backend: the backend's own path, with the query from its configuration. */
export function backendPath({ backend }: BackendSite<unknown>): PathOf {
  const bases = backend.host.map((host) => /^[a-z]+:\/\/[^/]*(\/.*?)\/?$/i.exec(host)?.[1] ?? '').filter(Boolean);
  return ({ target, query }) => {
    const base = bases.find((path) => target.startsWith(`${path}/`)) ?? '';
    const path = target.slice(base.length);
    return query.size > 0 && path.includes('?') ? path.slice(0, path.indexOf('?')) : path;
  };
}
