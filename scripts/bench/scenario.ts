import type { Routes } from './routes.ts';

/** One scenario to measure. */
export interface Scenario {
  readonly name: string;
  readonly path: string;
  /** Endpoint of the gateway, without its path. */
  readonly endpoint: {
    readonly backend: readonly object[];
    readonly output_encoding?: string;
    readonly method?: string;
  };
  /** Expected body, as JSON. */
  readonly expected: unknown;
  /** Expected status code; for values other than 200 the body is not checked. Default: 200. */
  readonly status?: number;
  /** Settings at the root. */
  readonly settings?: object;
  /**
   * Many endpoints, in place of `endpoint`. The benchmark requests some of them, and compares a gateway that has all
   * with one that has only a few.
   */
  readonly routes?: Routes;
  /** Length of the body that is posted and echoed, in bytes. Default: no body, by GET. */
  readonly echoes?: number;
  /** Maximum number of connections. Default: as many as requested. */
  readonly connections?: number;
  /** Compares one process to this number of workers. */
  readonly workers?: number;
  /** The response must be the upstream's own: same bytes and ETag. */
  readonly untouched?: true;
  /**
   * Compares the gateway that writes an access log with the gateway that writes none, instead of the gateway with its
   * equivalent in floor.ts.
   */
  readonly accessLog?: true;
  /**
   * Components: compares the gateway without them to the gateway with them.
   * @param folder for files that they name.
   */
  readonly attach?: (folder: string) => Attached;
  /** Components of the gateway to compare with, in measurements without sockets. Default: none. */
  readonly without?: Attached;
  /** Response of the backend in measurements without sockets, as JSON. Default: 1 KiB. */
  readonly answers?: object;
  /**
   * Requests per turn of the event loop in measurements without sockets, since requests to another server are sent
   * together. Default: 1.
   */
  readonly together?: number;
  /** Minimum number of requests for each program: rounds are added until it is reached. */
  readonly requests?: number;
}

/** Components of the service, by namespace. */
export interface ServiceComponents {
  readonly router?: object;
  readonly [namespace: string]: unknown;
}

/** Components at each level of the configuration, and the requests to send. */
export interface Attached {
  readonly service?: ServiceComponents;
  readonly endpoint?: object;
  readonly backend?: object;
  /** Folder with the modules that the components name. */
  readonly modules?: string;
  /** Endpoints in addition to the scenario's own. */
  readonly endpoints?: readonly object[];
  /** Request to make in place of the scenario's path, in measurements without sockets. */
  readonly request?: {
    readonly method: string;
    readonly path: string;
    readonly body: string;
    /** Headers of the request, as a flat list of names and values. */
    readonly headers: readonly string[];
  };
  /** Header sets of the requests, sent in turn. Default: none. */
  readonly headers?: readonly Readonly<Record<string, string>>[];
}

/**
 * A gateway configuration that serves only these endpoints.
 * @param service components of the service.
 * @param settings additional settings at the root.
 */
export function configWith(
  endpoints: readonly object[],
  upstream: string,
  port: number,
  accessLog = false,
  service: ServiceComponents = {},
  settings: object = {},
): object {
  return {
    ...settings,
    version: 3,
    name: 'bench',
    port,
    listen_ip: '127.0.0.1',
    host: [upstream],
    extra_config: { ...service, router: { disable_access_log: !accessLog, ...service.router } },
    endpoints,
  };
}

/** Endpoint of a scenario, with its components. */
export function endpointOf({ name, endpoint }: Scenario, { endpoint: own, backend: theirs }: Attached): object {
  return {
    endpoint: `/bench/${name}`,
    ...endpoint,
    ...(own && { extra_config: own }),
    ...(theirs && { backend: endpoint.backend.map((backend) => ({ ...backend, extra_config: theirs })) }),
  };
}
