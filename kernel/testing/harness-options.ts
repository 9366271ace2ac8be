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
import type { Reads } from '../pipeline/attach/reads.ts';
import type { TestRequest } from './test-request.ts';

/** Environment of the plugin under test. */
export interface HarnessOptions {
  readonly services?: Partial<Services>;
  /** The step that the plugin wraps. Default: responds with 200 and `{"ok":true}`. */
  readonly next?: Step<PipeRequest>;
  /** Backends of the endpoint, if it has several; `next` is then ignored. */
  readonly backends?: readonly Step<PipeRequest>[];
  /** Additional plugins, such as encodings that its configuration or its endpoint names. */
  readonly plugins?: readonly Plugin[];
  /** Values that other plugins offer to the plugin under test, each with its port. */
  readonly offers?: readonly Offer[];
  /** Role of the process. Default: alone, or a worker if `owner` is given. */
  readonly role?: Role;
  /**
   * A harness of the same plugin in the role of the owner: this harness acts as its worker, and requests shared values
   * from it.
   */
  readonly owner?: Harness;
  readonly service?: Partial<ServiceConfig>;
  readonly endpoint?: Partial<EndpointConfig>;
  readonly backend?: Partial<BackendConfig>;
  /** Agent whose driver the plugin is; its messages are handled by `next`. */
  readonly agent?: Partial<AgentConfig>;
  /** Whether background work of the plugin, such as an agent, runs. Default: true. */
  readonly starts?: boolean;
}

/** A plugin on its own, without a gateway or a socket. */
export interface Harness {
  send(request: TestRequest | ClientRequest): Promise<Reply>;
  /**
   * Sends a request to upgrade the connection to another protocol, `upgrade` of the request.
   * @returns the reply, and the client's end of the connection; null for an ordinary reply.
   */
  connect(request: TestRequest | ClientRequest): Promise<{ reply: Reply; connection: Duplex | null }>;
  /** Replaces the configuration, as a reload does: kept values are carried over. */
  reload(config: unknown): Promise<void>;
  readonly warnings: readonly ConfigError[];
  /** The hooks that the plugin has attached. */
  readonly attached: AtService & AtEndpoint & AtBackend;
  /** The ports that the plugin opened, in the order of its requests. */
  readonly ports: readonly number[];
  /** Health details of the plugin, by name. */
  readonly health: ReadonlyMap<string, () => Data>;
  /** Everything that the plugin has read from its site, by name. */
  readonly reads: Reads;
  /** Retires the plugin. @returns counts of unreleased resources; both must be 0. */
  close(): Promise<{ kept: number; deferred: number }>;
}
