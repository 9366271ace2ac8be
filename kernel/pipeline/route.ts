import type { ClientRequest, Encoding, EndpointConfig, Log, PipeRequest, Reply, Step } from '#contract';
import type { EndpointTraffic } from './endpoint-traffic.ts';
import type { NestedPipe } from './nested.ts';
import type { PayloadLimits } from './payload-limits.ts';
import type { Reads } from './reads.ts';
import { alwaysSettled } from './settle.ts';
import type { PipeStages } from './stages.ts';
import type { StreamLease } from './stream-lease.ts';

/** One published endpoint, ready to be called. Everything about it was decided when the configuration was compiled. */
export interface Route extends PayloadLimits {
  readonly endpoint: EndpointConfig;
  /** The whole pipe: endpoint wraps, proxy wraps, gathering, backends. Never throws, and answers when the call is over. */
  readonly handle: Step<ClientRequest>;
  /** Steps that have a turn each to answer when the call is over. */
  readonly depth: number;
  readonly output: Encoding;
  /** Decompresses gzip request bodies before any component reads them. */
  readonly inflate: boolean;
  /** Protocols that connections can go on in, in lower case. */
  readonly upgrades: ReadonlySet<string>;
  readonly log: Log;
  /** What its streams hold on to. */
  readonly hold: StreamLease;
  /** What it has served, under every configuration that had it. */
  readonly traffic: EndpointTraffic;
  /** What everything attached to it and to its backends asked for; more may be asked for later. */
  readonly reads: Reads;
  /** What the pipe was folded from. */
  readonly stages: PipeStages;
  /** Headers that components set on requests to its backends, in lower case. */
  readonly sets: ReadonlySet<string>;
  /** The pipes that its components hold. */
  readonly nested: readonly NestedPipe[];
}

/**
 * The boundary between the endpoint phase and the pipe: makes the pipe's request, and the reply tells its completeness.
 * Always answers.
 * @param heedsCall the pipe answers by itself as soon as its call is over, unless the request has a body.
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
