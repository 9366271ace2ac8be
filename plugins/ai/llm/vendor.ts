import type { DataObject, HeaderBag, Schema } from '#contract';
import type { ChatParameter } from '../lib/chat.ts';
import type { Prompt } from '../lib/prompt.ts';
import type { ToolCall } from '../lib/tools.ts';

/** Values configured under `variables`. */
export type Variables = Readonly<DataObject>;

/** One of the model's alternative responses to a prompt. */
export interface Candidate {
  /** Texts in order; empty if the model refused. */
  readonly texts: readonly string[];
  readonly calls?: readonly ToolCall[];
  /** The vendor's stop reason. */
  readonly stop: string | undefined;
}

/** The response of a model. */
export interface Answer {
  /** Alternative responses of the model, at least one. */
  readonly candidates: readonly Candidate[];
  readonly usage: Usage;
}

/** Tokens used so far; 0 if the vendor does not report them. */
export interface Usage {
  readonly prompt: number;
  readonly completion: number;
  readonly total: number;
}

/** Next part of one candidate in a stream. */
export interface Delta {
  /** Index of the candidate. */
  readonly index: number;
  readonly text: string;
  /** A tool call, or more of its arguments. Deltas with the same `key` belong to the same call. */
  readonly call?: {
    readonly key: string | number;
    readonly id?: string | undefined;
    readonly name?: string | undefined;
    readonly arguments: string;
  };
  /** The vendor's stop reason; undefined until the candidate is complete. */
  readonly stop?: string | undefined;
}

/** Content of one stream message. */
export interface Progress {
  readonly deltas: readonly Delta[];
  /** Usage of the whole call so far; undefined if the message does not report it. */
  readonly usage?: Usage;
  /** The vendor's error code. No more messages follow. */
  readonly failure?: string;
}

/**
 * Format of streamed messages: the vendor's own, chat-completion chunks with `[DONE]` at the end, or the events of
 * Anthropic's Messages API.
 */
export type Format = 'native' | 'openai' | 'anthropic';

/** Writes a stream in a format. */
export interface StreamWriter {
  /** Whether a complete response has been received. */
  readonly isWhole: boolean;
  add(progress: Progress): void;
  /** Ends the stream, with an error if the vendor did not finish it. */
  end(): void;
}

/** Streaming behavior of a vendor. */
export interface Streaming {
  /** Encoding of the vendor's streams. */
  readonly encoding: 'sse' | 'eventstream';
  /** Way to request a stream: `stream: true` in the payload, or another end of the path. */
  readonly asks: 'payload' | { readonly path: string; readonly becomes: string; readonly query?: string };
  /** Format of the vendor's messages, if streams can be converted to it. */
  readonly format?: Exclude<Format, 'native'>;
  /** Starts reading a stream. @returns a function that reads its messages one by one. */
  open(): (message: DataObject) => Progress;
}

/** One version of a vendor's API. */
export interface Vendor {
  readonly name: string;
  readonly version: string;
  /** Schema of `variables`. */
  readonly variables: Extract<Schema, { readonly type: 'object' }>;
  /** Whether `variables` is required. */
  readonly needsVariables: boolean;
  /** Default model, for providers that do not name one. */
  readonly defaultModel: string;
  /** Address of the vendor's public API for a model, whose name must be percent-encoded. */
  address(model: string): string;
  /** The vendor's name for each parameter of a chat completion. Unsupported parameters are missing. */
  readonly parameters: Readonly<Partial<Record<ChatParameter, string>>>;
  /** Headers that authenticate the gateway to the vendor. */
  headers(credentials: string): readonly (readonly [name: string, value: string])[];
  /** Builds the payload for a prompt. Undefined values are omitted when it is serialized. */
  payload(prompt: Prompt, variables: Variables): Payload;
  read(answer: DataObject): Answer;
  /**
   * Extracts the error code from the body (an empty object if it is not a JSON object) and headers of an error
   * response.
   */
  errorCode(body: DataObject, headers: HeaderBag): unknown;
  readonly stream: Streaming;
}

/** A JSON object whose members may be undefined. */
export interface Payload {
  readonly [key: string]: unknown;
}
