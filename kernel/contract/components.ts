/**
 * Settings of components in TypeScript, by namespace, at each level where they can stand. Here every namespace has any settings;
 * the build of the package puts the types that it makes from the schemas in place of this file. Plugins add theirs:
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
