import type { Data, DataObject } from '../values/data.ts';

/** Parts of a request that a component accepts, for requests that are generated to try a configuration in a sandbox. */
export interface Sample {
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  /** JSON Schema of the body. */
  readonly body?: DataObject;
  /**
   * Settings that replace those of the component in the sandbox, so that it accepts the request: for example a user
   * with a known password. Null removes a setting.
   */
  readonly settings?: DataObject;
  /** JSON documents that the component fetches in the sandbox, by URL. */
  readonly documents?: Readonly<Record<string, Data>>;
}

/**
 * Creates the parts of a request that a component at an endpoint requires. All configurations are valid.
 * @param around configuration of the component at the root; undefined without one.
 */
export type CreateSample = (config: Readonly<DataObject>, around: Readonly<DataObject> | undefined) => Sample;
