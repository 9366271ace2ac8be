/** Party that can fill a buffer, queue, cache or map. */
export type Side = 'client' | 'backend' | 'broker' | 'plugin';

/** A resource that others can fill, and its limit. */
export interface Bound {
  /** The buffer, queue, cache or map. */
  readonly holds: string;
  /** File of the constants in `limit`, relative to the repository root. */
  readonly from?: string;
  /** The limit. `{NAME}` is the value of a constant of `from`; names that end in BYTES or MS have that unit. */
  readonly limit: string;
  /** Field that sets the limit, as in `root: max_connections` or `endpoint: websocket: message_buffer_size`. */
  readonly setting?: string;
  /** Default of the field; absent when its schema defines it. */
  readonly default?: string;
  /** Behavior at the limit. */
  readonly beyond: string;
  /** Full titles of the tests that fill the resource up to its limit. */
  readonly tests: readonly string[];
}
