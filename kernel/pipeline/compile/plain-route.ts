import type { Call, ClientRequest, Encoding, EndpointConfig, Log, Reply, Step } from '#contract';
import type { EndpointContext } from '../attach/attachments.ts';
import type { Reads } from '../attach/reads.ts';
import { compileRequest } from '../request/request.ts';
import type { PipeStages } from '../steps/stages.ts';
import { backendNames, countResponses } from '../traffic/backend-responses.ts';
import type { EndpointTraffic } from '../traffic/endpoint-traffic.ts';
import type { ComponentState } from '../traffic/observer.ts';
import type { StreamLease } from '../traffic/stream-lease.ts';
import { foldPipe } from './fold-pipe.ts';
import type { NestedPipe } from './nested.ts';
import type { AttachedPipe } from './pipe.ts';
import { enterPipe, type Route } from './route.ts';

const noUpgrades: ReadonlySet<string> = new Set();
const none: readonly never[] = Object.freeze([]);

/** Parts shared by endpoints with equal settings. */
export interface SharedPipe {
  readonly pipe: AttachedPipe;
  readonly reads: Reads;
  /** Whether compressed request bodies are decompressed. */
  readonly inflate: boolean;
  /** Context for compiling their pipes. */
  readonly context: Pick<EndpointContext, 'registry' | 'log' | 'agent' | 'requestId' | 'addCertificate'>;
}

/**
 * An endpoint without components. Its pipe is compiled on the first call: of thousands only a few are called, and a
 * pipe takes kilobytes.
 */
export class PlainRoute implements Route {
  readonly endpoint: EndpointConfig;
  readonly hold: StreamLease;
  readonly traffic: EndpointTraffic;
  readonly #shared: SharedPipe;
  #log: Log | null = null;
  #step: Step<ClientRequest> | null = null;

  constructor(shared: SharedPipe, endpoint: EndpointConfig, hold: StreamLease, traffic: EndpointTraffic) {
    this.#shared = shared;
    this.endpoint = endpoint;
    this.hold = hold;
    this.traffic = traffic;
  }

  handle(request: ClientRequest, call: Call): Reply | Promise<Reply> {
    this.#step ??= this.#fold();
    return this.#step(request, call);
  }

  timed(): Step<ClientRequest> {
    return this.#fold(true);
  }

  states(): readonly ComponentState[] {
    return none;
  }

  get credentials(): readonly string[] {
    return none;
  }

  #fold(isTimed = false): Step<ClientRequest> {
    const { endpoint, traffic } = this;
    const { pipe, context } = this.#shared;
    const names = backendNames(endpoint.backend);
    const counting = (at: number, next: Parameters<typeof countResponses>[2]) =>
      countResponses(traffic.backends, names[at]!, next);
    const step = foldPipe({ ...context, counting, isTimed }, pipe, endpoint);
    return enterPipe(compileRequest(endpoint, context, pipe.sets), step, pipe.heedsCall);
  }

  get log(): Log {
    this.#log ??= this.#shared.context.log.at(`[ENDPOINT: ${this.endpoint.endpoint}]`);
    return this.#log;
  }

  get output(): Encoding {
    return this.#shared.pipe.output;
  }

  get maxPayloadBytes(): number {
    return this.#shared.pipe.maxPayloadBytes;
  }

  get maxParsedBytes(): number {
    return this.#shared.pipe.maxParsedBytes;
  }

  get inflate(): boolean {
    return this.#shared.inflate;
  }

  get reads(): Reads {
    return this.#shared.reads;
  }

  get stages(): PipeStages {
    return this.#shared.pipe.stages;
  }

  get sets(): ReadonlySet<string> {
    return this.#shared.pipe.sets;
  }

  get depth(): number {
    return 1;
  }

  get upgrades(): ReadonlySet<string> {
    return noUpgrades;
  }

  get nested(): readonly NestedPipe[] {
    return none;
  }
}
