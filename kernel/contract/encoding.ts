import type { DataObject } from '../values/data.ts';
import type { BackendConfig } from './config.ts';

/**
 * An encoding of data, selected by `encoding` and `output_encoding`. The plugin that provides it is named
 * `encoding/<name>`.
 */
export interface Encoding {
  readonly name: string;
  /** Name of an encoding with the same bytes: bodies pass from one to the other without being decoded. Default: none. */
  readonly aliasOf?: string;
  /** Passes the bytes through unchanged, with status and headers. Only one backend is allowed. */
  readonly raw?: true;
  /** A raw encoding for long-lived responses: status 200 is always streamed without a length. HTTP backends only. */
  readonly streams?: true;
  /** A raw encoding whose 200 responses are sequences of messages that components can process. */
  readonly messages?: Messages;
  /** Name of the only field that the encoding writes. */
  readonly writesField?: string;
  /** The field that receives bodies that are not objects. */
  readonly readsField?: string;
  /**
   * Decodes a backend's body. `asCollection` is the backend's `is_collection`. @returns null for an explicit null.
   * @throws Error with the parser's message.
   */
  decode?(bytes: Uint8Array, asCollection: boolean): DataObject | null;
  /** Encodes the response body. `accept` is the client's `Accept` header. */
  encode?(data: DataObject | null, accept: string | undefined): Encoded;
  /**
   * Checks whether a backend's body in this encoding equals what the client would receive, so that the bytes can pass
   * through. Null if not, or if that cannot be decided cheaply.
   * @throws Error with the parser's message if the body cannot be decoded at all.
   */
  passes?(bytes: Uint8Array, asCollection: boolean): Passed | null;
  /**
   * Compiles rules that shape a backend's body without decoding it. The result behaves like `passes`. Null for rules
   * that require decoding.
   */
  shapes?(rules: ShapeRules): ((bytes: Uint8Array, asCollection: boolean) => Passed | null) | null;
  /**
   * Merges several undecoded bodies, with the same result as merging decoded data. Returns null for bodies that must be
   * decoded.
   */
  merges?(bodies: readonly Uint8Array[]): Passed | null;
}

/** Fields of a backend that shape its data. */
export type ShapeRules = Pick<BackendConfig, 'target' | 'allow' | 'deny' | 'mapping' | 'group'>;

/** Splits a stream into messages and joins them again. */
export interface Messages {
  /** Content type sent to clients, regardless of the backend's. */
  readonly contentType: string;
  /**
   * Prepares the processing of one message stream.
   * @param each processes the data of a message; null if no component reads this stream.
   * @param emit receives the bytes for the client as soon as they are available.
   */
  open(each: EachMessage | null, emit: (bytes: Uint8Array) => void): MessageReader;
}

/** Processes the data of a message. Null drops the message. Never throws. */
export type EachMessage = (data: DataObject) => DataObject | null;

/**
 * Receives the bytes of a stream in arbitrary chunks. Both methods throw a CallError that names the byte at which the
 * framing is invalid.
 */
export interface MessageReader {
  write(chunk: Uint8Array): void;
  /** The backend has sent all bytes. */
  end(): void;
}

/** A response body. */
export interface Encoded {
  readonly contentType: string;
  readonly body: string | Uint8Array;
}

/** A backend's body that is passed to the client without being decoded. */
export interface Passed extends Encoded {
  readonly body: Uint8Array;
  /** True if the data has no keys. */
  readonly empty: boolean;
}
