import type { DataObject } from '../values/data.ts';
import type { Namespace } from './extra-config.ts';

/**
 * What the configuration of a component means for the service, the endpoint or the backend it stands in, told before it
 * is attached. Fields are named by their pointers in it, as in `/sequential`.
 */
export interface Meaning {
  /** The field by which backends are called one after another: addresses may hold `{resp0_field}` of earlier answers. */
  readonly sequence?: string;
  /** What addresses may hold as `{JWT.name}` is there. */
  readonly claims?: true;
  /** The field that works on decoded data only, and is missed where there is none. */
  readonly filter?: string;
  /** Equal keys of several answers are joined: neither is lost. */
  readonly joins?: true;
  /** The backend's answer is no part of the response, or only where another one's is not. */
  readonly apart?: true;
  /** Whether the backend is called is decided for each request: of several that hand on bytes the first one chosen is. */
  readonly chosen?: true;
  /** Where the admin port of this gateway listens, and the field that says so. */
  readonly admin?: { readonly listen: string; readonly field: string };
}

/** A component at endpoints, configured in a certain way. */
export interface ExpectedBelow {
  readonly component: Namespace;
  /** Whether this configuration of it will do. */
  readonly suits: (config: Readonly<DataObject>) => boolean;
  /** As it is put into words: `no endpoint has …`. */
  readonly called: string;
}
