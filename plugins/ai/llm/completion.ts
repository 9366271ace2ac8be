import { randomUUID } from 'node:crypto';
import type { DataObject } from '#contract';
import type { ChatCompletion } from '../lib/chat.ts';
import type { ToolCall } from '../lib/tools.ts';
import { cutAtStop } from './stop-sequences.ts';
import type { Answer, Usage } from './vendor.ts';

/** Finish reasons of chat completions, by the vendors' stop reasons. Any other maps to `stop`. */
const reasons: ReadonlyMap<string, string> = new Map([
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['max_output_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_calls', 'tool_calls'],
  ['tool_use', 'tool_calls'],
  ['content_filter', 'content_filter'],
  ['content_filtered', 'content_filter'],
  ['guardrail_intervened', 'content_filter'],
  ['refusal', 'content_filter'],
  ['safety', 'content_filter'],
  ['recitation', 'content_filter'],
  ['blocklist', 'content_filter'],
  ['prohibited_content', 'content_filter'],
  ['spii', 'content_filter'],
]);

/**
 * @param stop the vendor's stop reason; undefined if it sent none.
 * @param hasCalls whether the response contains tool calls.
 */
export function finishReason(stop: string | undefined, hasCalls: boolean): string {
  return reasons.get(stop?.toLowerCase() ?? '') ?? (hasCalls ? 'tool_calls' : 'stop');
}

function toolCalls(calls: readonly ToolCall[]): DataObject {
  if (calls.length === 0) return {};
  const shown = calls.map(({ id, ...called }) => ({ id, type: 'function', function: called }));
  return { tool_calls: shown };
}

/** Generates the identity of a completion: its ID, and its creation time in seconds since the epoch. */
export function identity(): { readonly id: string; readonly created: number } {
  return { id: `chatcmpl-${randomUUID()}`, created: Math.floor(Date.now() / 1000) };
}

export function usageObject({ prompt, completion, total }: Usage): DataObject {
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total };
}

/**
 * Converts a complete response to a `chat.completion` object.
 * @param stops stop sequences that the vendor does not support, at which the texts are cut off.
 */
export function completionOf(
  { candidates, usage }: Answer,
  { model }: ChatCompletion,
  stops: readonly string[],
): DataObject {
  const { id, created } = identity();
  const choices = candidates.map(({ texts, calls = [], stop }, index) => {
    const whole = texts.join('');
    const content = cutAtStop(whole, stops);
    return {
      index,
      message: { role: 'assistant', content: texts.length > 0 ? content : null, refusal: null, ...toolCalls(calls) },
      logprobs: null,
      finish_reason: content.length < whole.length ? 'stop' : finishReason(stop, calls.length > 0),
    };
  });
  return { id, object: 'chat.completion', created, model, choices, usage: usageObject(usage) };
}
