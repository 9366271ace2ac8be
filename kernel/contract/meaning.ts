import type { DataObject } from '../values/data.ts';
import type { Namespace } from './extra-config.ts';

/**
 * Effects of a component's configuration on its service, endpoint or backend, known before it is attached. Fields are
 * given as pointers into that configuration, for example `/sequential`.
 */
export interface Meaning {
  /**
   * Field that makes the backend calls sequential, so that later URLs can contain `{resp0_field}`, a field of an
   * earlier response.
   */
  readonly sequence?: string;
  /** Whether the component provides the claims for `{JWT.name}` in URLs. */
  readonly claims?: true;
  /** Field that filters data and therefore requires decoded responses. */
  readonly filter?: string;
  /** Whether equal keys of several responses are merged, so that no value is lost. */
  readonly joins?: true;
  /** Whether the backend's response is not merged, or is used only as a fallback. */
  readonly apart?: true;
  /**
   * Whether the backend is called only under a condition. If several backends pass their bodies through, the first one
   * whose condition holds is used.
   */
  readonly chosen?: true;
  /** Positions of the backends of the endpoint that the component calls conditionally. */
  readonly chooses?: readonly number[];
  /** Listen address of this gateway's admin port, and the field that contains it. */
  readonly admin?: { readonly listen: string; readonly field: string };
}

/** A component that the configuration must contain at some endpoint, with certain settings. */
export interface ExpectedBelow {
  readonly component: Namespace;
  /** Whether given settings of the component fulfill the requirement. */
  readonly suits: (config: Readonly<DataObject>) => boolean;
  /** Description of the component with these settings, for the message `no endpoint has …`. */
  readonly called: string;
}
