/**
 * Types of component settings, by namespace, at each level where the component is allowed. In the source, every namespace
 * accepts any settings; the build of the package replaces this file with types generated from the schemas. Plugins add
 * their own:
 *
 *     declare module 'sluice' {
 *       interface EndpointComponents { 'acme/team'?: Written<typeof schema> }
 *     }
 */
export interface ServiceComponents {
  readonly [namespace: string]: unknown;
}

/** Components in the `extra_config` of an endpoint. */
export interface EndpointComponents {
  readonly [namespace: string]: unknown;
}

/** Components in the `extra_config` of a backend. */
export interface BackendComponents {
  readonly [namespace: string]: unknown;
}

/** Components in the `extra_config` of an async agent. */
export interface AgentComponents {
  readonly [namespace: string]: unknown;
}
