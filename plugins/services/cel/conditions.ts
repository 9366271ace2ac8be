import {
  type BackendSite,
  type Call,
  type CallError,
  claimsSlot,
  discard,
  type PipeRequest,
  Reply,
  toCallError,
  type Wrap,
} from '#contract';
import type { Readable } from './variables.ts';

/** Conditions that are looked at together. */
export interface Conditions {
  /** There is one. */
  readonly any: boolean;
  /** One of them reads a variable whose name begins so. */
  reads(prefix: string): boolean;
  /** @returns why the call ends here; null when every condition holds. */
  check(from: Readable, call: Call): CallError | null;
}

/** Where conditions stand. */
export interface Stance {
  readonly pathOf: PathOf;
  /** Replies pass undecoded. */
  readonly raw: boolean;
}

/** The path of a request as conditions see it. */
export type PathOf = (request: PipeRequest) => string;

/**
 * Looks at the request before the rest of the pipe, and at what comes back, unless that is a failure or a refusal. Those on
 * the request may read `req_body`, which is then kept in memory.
 * @returns undefined where there are no conditions.
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
      // What stands inside may change the request.
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

/** Nothing came back that there is to look at. */
function isRefusal(reply: Reply): boolean {
  return reply.failed || reply.skipped || (reply.complete === null && reply.data === null && reply.body === null);
}

/** What the client asked for, decoded. */
export const endpointPath: PathOf = ({ client }) => {
  try {
    return decodeURIComponent(client.path);
  } catch {
    return client.path;
  }
};

/** What the backend is asked for: its own path, with the query that stands in its configuration. */
export function backendPath({ backend }: BackendSite<unknown>): PathOf {
  const bases = backend.host.map((host) => /^[a-z]+:\/\/[^/]*(\/.*?)\/?$/i.exec(host)?.[1] ?? '').filter(Boolean);
  return ({ target, query }) => {
    const base = bases.find((path) => target.startsWith(`${path}/`)) ?? '';
    const path = target.slice(base.length);
    return query.size > 0 && path.includes('?') ? path.slice(0, path.indexOf('?')) : path;
  };
}
