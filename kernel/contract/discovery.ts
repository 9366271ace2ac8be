import type { BackendSite } from './site.ts';

/** Current base URLs of a backend. */
export interface HostList {
  /**
   * URLs such as `http://10.0.0.1:8080`; empty if none is known. Repeated entries get a larger share. The array is read
   * for every call and compared by identity, so it is only replaced when it changes.
   */
  readonly current: readonly string[];
  /** True if `current` never changes. */
  readonly fixed?: true;
}

/** A service discovery method, selected by `sd`. The plugin that provides it is named `discovery/<name>`. */
export interface Discovery {
  readonly name: string;
  /**
   * Called once for every backend that uses this method, with its list `host`, which has at least one entry.
   * @throws ConfigError for unsuitable fields of the backend, with a pointer relative to the backend.
   */
  open(site: BackendSite<undefined>): HostList;
}
