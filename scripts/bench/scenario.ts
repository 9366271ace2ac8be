import type { Routes } from './routes.ts';

/** One thing to measure. */
export interface Scenario {
  readonly name: string;
  readonly path: string;
  /** The gateway's endpoint, without its path. */
  readonly endpoint: { readonly backend: readonly object[]; readonly output_encoding?: string };
  /** What the body must be equal to, as JSON. */
  readonly expected: unknown;
  /** Status of the right answer; of another than 200 the body is not looked at. Default 200. */
  readonly status?: number;
  /** Settings of the root. */
  readonly settings?: object;
  /** Endpoints of which some are asked for, instead of `endpoint`: compares the gateway with few of them to the one with all. */
  readonly routes?: Routes;
  /** Bytes of the body that is sent by POST, and comes back. Default: none is sent, by GET. */
  readonly echoes?: number;
  /** Connections at most. Default: as many as are asked for. */
  readonly connections?: number;
  /** Compares one process to so many workers. */
  readonly workers?: number;
  /** The answer must be the upstream's own: its bytes and its ETag. */
  readonly untouched?: true;
  /**
   * Compares the gateway without access log to the gateway that writes one, instead of the floor of the same name in
   * floor.ts to the gateway.
   */
  readonly accessLog?: true;
  /**
   * Components: compares the gateway without them to the gateway with them.
   * @param folder for files that they name.
   */
  readonly attach?: (folder: string) => Attached;
  /**
   * Requests that come in one turn of the event loop where there are no sockets, as what is asked of another server is sent
   * together. Default 1.
   */
  readonly together?: number;
  /** Requests each program answers at least while it is measured: rounds are added until then. */
  readonly requests?: number;
}

/** Components where they stand, and what is sent for them. */
export interface Attached {
  readonly service?: object;
  readonly endpoint?: object;
  readonly backend?: object;
  /** Folder with modules that they name. */
  readonly modules?: string;
  /** Endpoints beside that of the scenario. */
  readonly endpoints?: readonly object[];
  /** What is asked for in the place of the scenario's path, where there are no sockets. */
  readonly request?: {
    readonly method: string;
    readonly path: string;
    readonly body: string;
    /** A flat list. */
    readonly headers: readonly string[];
  };
  /** Headers of the requests, one set after another. Default: none. */
  readonly headers?: readonly Readonly<Record<string, string>>[];
}

/**
 * A gateway configuration that serves these endpoints and nothing else.
 * @param service components of the service.
 * @param settings of the root, beside those that are needed.
 */
export function configWith(
  endpoints: readonly object[],
  upstream: string,
  port: number,
  accessLog = false,
  service: object = {},
  settings: object = {},
): object {
  return {
    ...settings,
    version: 3,
    name: 'bench',
    port,
    listen_ip: '127.0.0.1',
    host: [upstream],
    extra_config: { router: { disable_access_log: !accessLog }, ...service },
    endpoints,
  };
}

/** The endpoint of a scenario, with its components. */
export function endpointOf({ name, endpoint }: Scenario, { endpoint: own, backend: theirs }: Attached): object {
  return {
    endpoint: `/bench/${name}`,
    ...endpoint,
    ...(own && { extra_config: own }),
    ...(theirs && { backend: endpoint.backend.map((backend) => ({ ...backend, extra_config: theirs })) }),
  };
}
