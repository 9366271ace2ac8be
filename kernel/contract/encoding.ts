import type { DataObject } from '../values/data.ts';
import type { BackendConfig } from './config.ts';

/**
 * A way to write data as bytes and to read it back. `name` is what `encoding` and `output_encoding` say; the plugin
 * that brings it is named `encoding/<name>`.
 */
export interface Encoding {
  readonly name: string;
  /** The bytes pass as they are, with status and headers: nothing is decoded and only one backend is allowed. */
  readonly raw?: true;
  /** A raw encoding for long-lived answers: 200 is always written as a stream, without a length; HTTP backends only. */
  readonly streams?: true;
  /** A raw encoding whose 200 answers are a row of messages that components may look into. */
  readonly messages?: Messages;
  /** The one field it writes, and nothing else of the data. */
  readonly writesField?: string;
  /** The field under which it reads what is not an object. */
  readonly readsField?: string;
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
  /**
   * Compiles what shapes a backend's body without decoding it; that answers as `passes`, and null also for a body that takes
   * the decoded way. Null for rules that cannot be met so.
   */
  shapes?(rules: ShapeRules): ((bytes: Uint8Array, asCollection: boolean) => Passed | null) | null;
  /** Makes one body of several that have passed, as decoded data are merged. Null for what takes the decoded way. */
  merges?(bodies: readonly Uint8Array[]): Passed | null;
}

/** What becomes of a backend's data, as its fields of these names say. */
export type ShapeRules = Pick<BackendConfig, 'target' | 'allow' | 'deny' | 'mapping' | 'group'>;

/** How a stream is cut into messages and put together again. */
export interface Messages {
  /** What the client is told, whatever the backend said. */
  readonly contentType: string;
  /**
   * Begins one stream.
   * @param each what becomes of the data of one message; null when nobody looks into this stream.
   * @param emit takes the bytes for the client, as soon as there are some.
   */
  open(each: EachMessage | null, emit: (bytes: Uint8Array) => void): MessageReader;
}

/** What becomes of the data of one message; null drops the message. Never throws. */
export type EachMessage = (data: DataObject) => DataObject | null;

/** Takes the bytes of one stream, cut anywhere. Both throw a CallError that names the byte where the framing broke. */
export interface MessageReader {
  write(chunk: Uint8Array): void;
  /** The backend has sent everything. */
  end(): void;
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
