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

/** A host of a backend, by its index, as named by a plugin that may call it. */
export interface NamedHost {
  readonly plugin: Plugin;
  readonly index: number;
  readonly upstream: Upstream;
}

/** Location of a namespace in the configuration. */
export interface Location {
  readonly pointer: string;
  /** Set when the component is not in the configuration. */
  readonly isUnnamed?: true;
  readonly log: Log;
  readonly endpoint?: EndpointConfig;
  readonly backend?: BackendConfig;
  readonly index?: number;
  /** Hosts of the backend that are named at this location. */
  readonly hosts?: NamedHost[];
  /** Configuration of the agent, at the location of an agent; `run` runs its pipe. */
  readonly agent?: AgentConfig;
  readonly run?: AgentSite<unknown>['run'];
  readonly offers: Offers;
  /** Records the settings and ports that the plugin reads. Default: recorded only by the build. */
  readonly reads?: Reads;
  /** Compiles the pipe at a pointer. */
  readonly compilePipe: CompilePipe;
}

/** @param pipe with inherited settings filled in. @param pointer its location. */
export type CompilePipe = (pipe: PipeConfig, pointer: string) => Step<PipeRequest>;

/** Converts a location to that of the service. */
export function atRoot({
  endpoint: _endpoint,
  backend: _backend,
  index: _index,
  hosts: _hosts,
  ...stance
}: Location): Location {
  return { ...stance, offers: stance.offers.root };
}
