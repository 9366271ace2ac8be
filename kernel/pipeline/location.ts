import type {
  AgentConfig,
  AgentSite,
  BackendConfig,
  EndpointConfig,
  Log,
  PipeConfig,
  PipeRequest,
  Plugin,
  Step,
  Upstream,
} from '#contract';
import type { Offers } from './offers.ts';
import type { Reads } from './reads.ts';

/** A host of a backend, by its position, as a plugin that may call it names it. */
export interface NamedHost {
  readonly plugin: Plugin;
  readonly index: number;
  readonly upstream: Upstream;
}

/** Where in the configuration a namespace stands. */
export interface Location {
  readonly pointer: string;
  /** Nothing names the component. */
  readonly isUnnamed?: true;
  readonly log: Log;
  readonly endpoint?: EndpointConfig;
  readonly backend?: BackendConfig;
  readonly index?: number;
  /** Hosts of the backend that are named at the place. */
  readonly hosts?: NamedHost[];
  /** Of an agent: its configuration, and what runs its pipe. */
  readonly agent?: AgentConfig;
  readonly run?: AgentSite<unknown>['run'];
  readonly offers: Offers;
  /** Notes what the attachment asks for. Default: only the build does. */
  readonly reads?: Reads;
  /** Compiles the pipe that stands at a pointer. */
  readonly compilePipe: CompilePipe;
}

/** @param pipe completed with what it inherits. @param pointer where it stands. */
export type CompilePipe = (pipe: PipeConfig, pointer: string) => Step<PipeRequest>;

/** As if a place were the service's. */
export function atRoot({
  endpoint: _endpoint,
  backend: _backend,
  index: _index,
  hosts: _hosts,
  ...stance
}: Location): Location {
  return { ...stance, offers: stance.offers.root };
}
