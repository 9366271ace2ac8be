import type { BackendSite } from './site.ts';

/** The base addresses of one backend, as they are now. */
export interface HostList {
  /**
   * Addresses as in `http://10.0.0.1:8080`, none when none is known; an entry that stands here more than once gets a
   * larger share. The same array for as long as nothing changes: it is asked for with every call, and compared.
   */
  readonly current: readonly string[];
  /** `current` never changes. */
  readonly fixed?: true;
}

/**
 * A way to find a backend's hosts. `name` is what `sd` says; the plugin that brings it is named `discovery/<name>`.
 */
export interface Discovery {
  readonly name: string;
  /**
   * Called once for every backend of a configuration that has at least one `host` and asks for this discovery.
   * @throws ConfigError when the backend's fields do not fit, its pointer relative to the backend.
   */
  open(site: BackendSite<undefined>): HostList;
}
