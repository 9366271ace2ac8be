import type { Duplex } from 'node:stream';
import type {
  AgentConfig,
  AtBackend,
  AtEndpoint,
  AtService,
  BackendConfig,
  ClientRequest,
  ConfigError,
  Data,
  EndpointConfig,
  Offer,
  PipeRequest,
  Plugin,
  Reply,
  Role,
  ServiceConfig,
  Services,
  Step,
} from '#contract';
import type { Reads } from '../pipeline/reads.ts';
import type { TestRequest } from './test-request.ts';

/** What surrounds the plugin. */
export interface HarnessOptions {
  readonly services?: Partial<Services>;
  /** What stands inside the plugin. Default: answers 200 with `{"ok":true}`. */
  readonly next?: Step<PipeRequest>;
  /** For an endpoint with several backends; `next` is then not used. */
  readonly backends?: readonly Step<PipeRequest>[];
  /** Others that are there, such as encodings that its configuration or its endpoint names. */
  readonly plugins?: readonly Plugin[];
  /** What other plugins offer it. */
  readonly offers?: readonly Offer[];
  /** Default: alone, or a worker where `owner` is given. */
  readonly role?: Role;
  /** The same plugin in the role of the owner: what stands here is one of its workers, and asks it for what they share. */
  readonly owner?: Harness;
  readonly service?: Partial<ServiceConfig>;
  readonly endpoint?: Partial<EndpointConfig>;
  readonly backend?: Partial<BackendConfig>;
  /** Of an agent whose driver the plugin is; its messages are answered by `next`. */
  readonly agent?: Partial<AgentConfig>;
  /** False: what the plugin wants to run while it serves, such as an agent, does not run. Default true. */
  readonly starts?: boolean;
}

/** A plugin standing alone, with no gateway and no socket around it. */
export interface Harness {
  send(request: TestRequest | ClientRequest): Promise<Reply>;
  /**
   * Sends a request whose connection is to go on in another protocol, `upgrade` of the request.
   * @returns the reply, and the client's end of the connection; null for an ordinary reply.
   */
  connect(request: TestRequest | ClientRequest): Promise<{ reply: Reply; connection: Duplex | null }>;
  /** Another configuration for the same place, as a reload brings it: kept values pass over. */
  reload(config: unknown): Promise<void>;
  readonly warnings: readonly ConfigError[];
  /** What the plugin handed over. */
  readonly attached: AtService & AtEndpoint & AtBackend;
  /** The ports it opened, in the order in which it asked for them. */
  readonly ports: readonly number[];
  /** What it tells the health endpoint, by name. */
  readonly health: ReadonlyMap<string, () => Data>;
  /** What it asked its site for, by name, up to now. */
  readonly reads: Reads;
  /** Retires the plugin. @returns what it did not release; both must be 0. */
  close(): Promise<{ kept: number; deferred: number }>;
}
