import type { DataObject } from './data.ts';

/**
 * A way to write data as bytes and to read it back. `name` is what `encoding` and `output_encoding` say; the plugin
 * that brings it is named `encoding/<name>`.
 */
export interface Encoding {
  readonly name: string;
  /** The bytes pass as they are, with status and headers: nothing is decoded and only one backend is allowed. */
  readonly raw?: true;
  /** Reads a backend's body. `asCollection` is the backend's `is_collection`. @returns null for an explicit nothing. @throws Error with the parser's text. */
  decode?(bytes: Uint8Array, asCollection: boolean): DataObject | null;
  /** Writes the client's body. `accept` is the client's `Accept` header. */
  encode?(data: DataObject | null, accept: string | undefined): Encoded;
  /**
   * Proves that a backend's body, read in this encoding, is already what the client would be written, so that the bytes
   * can pass. Null when it is not or when that cannot be told cheaply.
   * @throws Error with the parser's text when the body cannot be decoded at all.
   */
  passes?(bytes: Uint8Array, asCollection: boolean): Passed | null;
}

/** A body for the client. */
export interface Encoded {
  readonly contentType: string;
  readonly body: string | Uint8Array;
}

/** A backend's body that goes to the client unread. */
export interface Passed extends Encoded {
  readonly body: Uint8Array;
  /** True when the data has no key at all. */
  readonly empty: boolean;
}
