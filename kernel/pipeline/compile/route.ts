import type { ClientRequest, Log, PipeRequest, Reply, Step } from '#contract';
import type { Reads } from '../attach/reads.ts';
import type { PayloadLimits } from '../request/payload-limits.ts';
import { alwaysSettled } from '../steps/settle.ts';
import type { EndpointTraffic } from '../traffic/endpoint-traffic.ts';
import type { Observable } from '../traffic/observer.ts';
import type { StreamLease } from '../traffic/stream-lease.ts';
import type { NestedPipe } from './nested.ts';

/** A published endpoint, ready to be called. All decisions were made when the configuration was compiled. */
export interface Route extends PayloadLimits, Observable {
  /**
   * The whole pipe: endpoint wraps, proxy wraps, gathering, backends. Never throws, and replies when the call is over.
   */
  readonly handle: Step<ClientRequest>;
  /** Number of steps in the pipe. When the call is aborted, each step gets a turn of the event loop to reply. */
  readonly depth: number;
  /** Decompresses gzip request bodies before any component reads them. */
  readonly inflate: boolean;
  /** Protocols that connections can be upgraded to, in lowercase. */
  readonly upgrades: ReadonlySet<string>;
  readonly log: Log;
  /** Lease that the streams of the endpoint hold to keep their configuration in memory. */
  readonly hold: StreamLease;
  /** Traffic counters, kept across the configurations that contain the endpoint. */
  readonly traffic: EndpointTraffic;
  /** Settings that the components of the endpoint and its backends read; more may be added later. */
  readonly reads: Reads;
  /** Headers that components set on requests to backends of the endpoint, in lowercase. */
  readonly sets: ReadonlySet<string>;
  /** Pipes nested in components of the endpoint. */
  readonly nested: readonly NestedPipe[];
}

/**
 * Boundary between the endpoint phase and the pipe: derives the pipe's request, and sets the reply's completeness.
 * Always returns a reply.
 * @param heedsCall whether the pipe itself replies as soon as its call is over, unless the request has a body.
 */
export function enterPipe(
  toPipe: (client: ClientRequest) => PipeRequest,
  pipe: Step<PipeRequest>,
  heedsCall = false,
): Step<ClientRequest> {
  const enter: Step<ClientRequest> = (client, call) => pipe(toPipe(client), call);
  return alwaysSettled(enter, 0, complete, heedsCall ? hasNoBody : undefined);
}

function complete(reply: Reply): Reply {
  reply.complete ??= false;
  return reply;
}

function hasNoBody({ body }: ClientRequest): boolean {
  return body === null;
}
