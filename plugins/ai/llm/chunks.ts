import { randomUUID } from 'node:crypto';
import type { Progress, Usage } from './vendor.ts';

/** Reasons to stop in the words of chat completions, by those of vendors; any other is `stop`. */
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

/** Writes one stream as chat-completion chunks in server-sent events. */
export class ChunkWriter {
  readonly #write: (bytes: Uint8Array) => void;
  readonly #head: string;
  /** Candidates that have begun, by position. */
  readonly #begun = new Set<number>();
  #usage: Usage | null = null;
  #stopped = false;
  #failed = false;

  constructor(model: string, write: (bytes: Uint8Array) => void) {
    const id = JSON.stringify(`chatcmpl-${randomUUID()}`);
    const created = Math.floor(Date.now() / 1000);
    this.#head = `data: {"id":${id},"object":"chat.completion.chunk","created":${created},"model":${JSON.stringify(model)},"choices":[`;
    this.#write = write;
  }

  /** True when what has come is a whole answer. */
  get isWhole(): boolean {
    return this.#stopped && !this.#failed;
  }

  add({ deltas, usage, failure }: Progress): void {
    if (this.#failed) return;
    if (usage) this.#usage = usage;
    let choices = '';
    for (const { index, text, stop } of deltas) {
      if (text !== '') choices += `${choices && ','}${this.#choice(index, text, null)}`;
      if (stop === undefined) continue;
      this.#stopped = true;
      choices += `${choices && ','}${this.#choice(index, null, reasons.get(stop.toLowerCase()) ?? 'stop')}`;
    }
    if (choices !== '') this.#put(`${this.#head}${choices}]}\n\n`);
    if (failure !== undefined) {
      this.#failed = true;
      this.#put(
        `data: ${JSON.stringify({ error: { message: 'the model has failed', type: 'server_error', code: failure } })}\n\n`,
      );
    }
  }

  /** What has been used, and that this was all; nothing after a failure or where the end is missing. */
  end(): void {
    if (!this.isWhole) return;
    if (this.#usage) {
      const { prompt, completion, total } = this.#usage;
      const usage = JSON.stringify({ prompt_tokens: prompt, completion_tokens: completion, total_tokens: total });
      this.#put(`${this.#head}],"usage":${usage}}\n\n`);
    }
    this.#put('data: [DONE]\n\n');
  }

  #choice(index: number, text: string | null, reason: string | null): string {
    const role = this.#begun.has(index) ? '' : '"role":"assistant"';
    this.#begun.add(index);
    const content = text === null ? '' : `"content":${JSON.stringify(text)}`;
    const delta = role && content ? `${role},${content}` : role + content;
    return `{"index":${index},"delta":{${delta}},"finish_reason":${reason === null ? null : JSON.stringify(reason)}}`;
  }

  #put(text: string): void {
    this.#write(Buffer.from(text));
  }
}
