import { type Call, type Data, type DataObject, defineSlot, requestIdSlot } from '#contract';
import type { Prompt } from './prompt.ts';

/** Sampling parameters of a chat completion. Each vendor has its own names for them. */
export type ChatParameter = 'max_tokens' | 'temperature' | 'top_p' | 'stop' | 'n' | 'seed';

/** A requested chat completion. `ai/llm` responds in the format of OpenAI's API to a call that carries one. */
export interface ChatCompletion {
  /** Model name sent by the client. */
  readonly model: string;
  readonly prompt: Prompt;
  /** Parameters set by the client. They take precedence over `variables` of the model. */
  readonly parameters: { readonly [name in ChatParameter]?: Data };
  /** Stop sequences; empty if the client sent none. */
  readonly stops: readonly string[];
  /** Whether the client requested a stream of chunks instead of a single object. */
  readonly streams: boolean;
  /** Whether the last chunk of a stream contains the token usage. */
  readonly reportsUsage: boolean;
}

export const chatSlot = defineSlot<ChatCompletion>('chat completion');

/** Contents of an error body. */
interface ErrorFields {
  readonly message: string;
  readonly type: string;
  readonly code?: string | null;
  readonly param?: string | null;
}

/** Error body in the format of OpenAI's API, with the ID of the request if requests have IDs. */
export function errorBody(call: Call, { message, type, code = null, param = null }: ErrorFields): DataObject {
  const requestId = call.get(requestIdSlot);
  return { error: { message, type, param, code, ...(requestId !== undefined && { request_id: requestId }) } };
}
