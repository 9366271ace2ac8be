import type { DataObject, HeaderBag, Schema } from '#contract';
import type { ChatParameter } from '../lib/chat.ts';
import type { Prompt } from '../lib/prompt.ts';
import type { ToolCall } from '../lib/tools.ts';

/** What is configured under `variables`. */
export type Variables = Readonly<DataObject>;

/** One of the answers to a prompt. */
export interface Candidate {
  /** Its texts, in order; empty for a refusal. */
  readonly texts: readonly string[];
  readonly calls?: readonly ToolCall[];
  /** Why the model stopped, in the vendor's word. */
  readonly stop: string | undefined;
}

/** The response of a model. */
export interface Answer {
  /** At least one. */
  readonly candidates: readonly Candidate[];
  readonly usage: Usage;
}

/** Tokens that have been used so far; 0 where the vendor does not say. */
export interface Usage {
  readonly prompt: number;
  readonly completion: number;
  readonly total: number;
}

/** What one candidate is continued by. */
export interface Delta {
  /** Position of the candidate. */
  readonly index: number;
  readonly text: string;
  /** A call of a tool, or more of its arguments: those of one `key` are one call. */
  readonly call?: {
    readonly key: string | number;
    readonly id?: string | undefined;
    readonly name?: string | undefined;
    readonly arguments: string;
  };
  /** Why the candidate is over, in the vendor's word; undefined while it goes on. */
  readonly stop?: string | undefined;
}

/** What a message of a stream says. */
export interface Progress {
  readonly deltas: readonly Delta[];
  /** Of the whole call up to now, where the message says something of it. */
  readonly usage?: Usage;
  /** The vendor's code of a failure, after which nothing more comes. */
  readonly failure?: string;
}

/** How a vendor streams. */
export interface Streaming {
  /** The encoding its streams are in. */
  readonly encoding: 'sse' | 'eventstream';
  /** What asks for a stream: `stream: true` in the payload, or another end of the path. */
  readonly asks: 'payload' | { readonly path: string; readonly becomes: string; readonly query?: string };
  /** Its messages are chat-completion chunks already, with `[DONE]` at the end. */
  readonly isCompletion?: true;
  /** Begins one stream. @returns what reads its messages, one after another. */
  open(): (message: DataObject) => Progress;
}

/** One version of one vendor's interface. */
export interface Vendor {
  readonly name: string;
  readonly version: string;
  /** Of `variables`. */
  readonly variables: Extract<Schema, { readonly type: 'object' }>;
  /** `variables` must be written. */
  readonly needsVariables: boolean;
  /** The variable by which the vendor knows each parameter of a chat completion; what it lacks is not in it. */
  readonly parameters: Readonly<Partial<Record<ChatParameter, string>>>;
  /** Headers by which the gateway is known to the vendor. */
  headers(credentials: string): readonly (readonly [name: string, value: string])[];
  /** What is sent for a prompt; values that are undefined are left out. */
  payload(prompt: Prompt, variables: Variables): Payload;
  read(answer: DataObject): Answer;
  /** The code of a failure, from its body (an empty object where that is no JSON object) and its headers. */
  errorCode(body: DataObject, headers: HeaderBag): unknown;
  readonly stream: Streaming;
}

/** JSON, with members that may be undefined. */
export interface Payload {
  readonly [key: string]: unknown;
}
