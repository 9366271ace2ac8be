import type { DataObject } from '../values/data.ts';
import type { Namespace } from './extra-config.ts';

/**
 * Effects of a component's configuration on its service, endpoint or backend, known before it is attached. Fields are
 * named by their pointers in it, for example `/sequential`.
 */
export interface Meaning {
  /** Field that makes backend calls sequential, so that URLs can contain `{resp0_field}` of earlier responses. */
  readonly sequence?: string;
  /** Provides `{JWT.name}` for URLs. */
  readonly claims?: true;
  /** Field that requires decoded data. */
  readonly filter?: string;
  /** Equal keys of several responses are joined, so that none is lost. */
  readonly joins?: true;
  /** The backend's response is not merged, or is used only as a fallback. */
  readonly apart?: true;
  /** The backend is called conditionally. Among several pass-through backends, the first one selected is used. */
  readonly chosen?: true;
  /** Positions of the backends of the endpoint that the component calls conditionally. */
  readonly chooses?: readonly number[];
  /** Listen address of this gateway's admin port, and the field that sets it. */
  readonly admin?: { readonly listen: string; readonly field: string };
}

/** A component that must be configured in a certain way at some endpoint. */
export interface ExpectedBelow {
  readonly component: Namespace;
  /** True if this configuration of the component is suitable. */
  readonly suits: (config: Readonly<DataObject>) => boolean;
  /** Phrase for messages: `no endpoint has …`. */
  readonly called: string;
}
