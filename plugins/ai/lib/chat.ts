import { type Data, type DataObject, defineSlot } from '#contract';
import type { Prompt } from './prompt.ts';

/** Sampling parameters of a chat completion that vendors know by names of their own. */
export type ChatParameter = 'max_tokens' | 'temperature' | 'top_p' | 'stop' | 'n' | 'seed';

/** A requested chat completion. `ai/llm` answers a call that carries one in the format of OpenAI's API. */
export interface ChatCompletion {
  /** The model's name as the client knows it. */
  readonly model: string;
  readonly prompt: Prompt;
  /** Parameters set by the client. They take precedence over `variables` of the model. */
  readonly parameters: { readonly [name in ChatParameter]?: Data };
  /** Stop sequences; empty for none. */
  readonly stops: readonly string[];
  /** The client wants chunks instead of one object. */
  readonly streams: boolean;
  /** The last chunk of a stream tells the usage. */
  readonly tellsUsage: boolean;
}

export const chatSlot = defineSlot<ChatCompletion>('chat completion');

/** The body of an error in the format of OpenAI's API. */
export function errorBody(
  message: string,
  type: string,
  code: string | null = null,
  param: string | null = null,
): DataObject {
  return { error: { message, type, param, code } };
}
