import { randomUUID } from 'node:crypto';
import type { Call, DataObject } from '#contract';
import { errorBody } from '../lib/chat.ts';
import { finishReason } from './completion.ts';
import type { Delta, Progress, StreamWriter, Usage } from './vendor.ts';

/** Stop reasons of Anthropic's Messages API, by the finish reasons of chat completions. */
const reasons: Readonly<Record<string, string>> = {
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
};

/**
 * Writes a stream as the events of Anthropic's Messages API. The API has one candidate: only the first one is written.
 */
export class MessageEventWriter implements StreamWriter {
  readonly #call: Call;
  readonly #model: string;
  readonly #write: (bytes: Uint8Array) => void;
  #hasStarted = false;
  /** Index of the last content block, -1 before the first, and the vendor's key of the block's tool call, undefined for a text block. */
  #index = -1;
  #key: string | number | undefined;
  #isOpen = false;
  #hasCalls = false;
  #usage: Usage | null = null;
  #stop: string | undefined;
  #stopped = false;
  #failed = false;

  /** @param call call whose ID is included in errors. */
  constructor(call: Call, model: string, write: (bytes: Uint8Array) => void) {
    this.#call = call;
    this.#model = model;
    this.#write = write;
  }

  /** Whether a complete response has been received. */
  get isWhole(): boolean {
    return this.#stopped && !this.#failed;
  }

  add({ deltas, usage, failure }: Progress): void {
    if (this.#failed) return;
    if (usage) this.#usage = usage;
    for (const delta of deltas) if (delta.index === 0) this.#addDelta(delta);
    if (failure !== undefined) this.#fail('the model failed', failure);
  }

  /** Ends the message with its stop reason and usage, or with an error if the vendor did not finish its stream. */
  end(): void {
    if (this.#failed) return;
    if (!this.#stopped) {
      this.#fail('the stream of the model ended before its last message', 'incomplete');
      return;
    }
    this.#start();
    this.#closeBlock();
    const reason = reasons[finishReason(this.#stop, this.#hasCalls)] ?? 'end_turn';
    this.#put('message_delta', { delta: { stop_reason: reason, stop_sequence: null }, usage: this.#tokens() });
    this.#put('message_stop', {});
  }

  #addDelta({ text, call, stop }: Delta): void {
    if (text !== '') {
      this.#openBlock(undefined, { type: 'text', text: '' });
      this.#put('content_block_delta', { index: this.#index, delta: { type: 'text_delta', text } });
    }
    if (call) {
      this.#hasCalls = true;
      this.#openBlock(call.key, { type: 'tool_use', id: call.id ?? '', name: call.name ?? '', input: {} });
      if (call.arguments !== '') {
        const delta = { type: 'input_json_delta', partial_json: call.arguments };
        this.#put('content_block_delta', { index: this.#index, delta });
      }
    }
    if (stop === undefined) return;
    this.#stop = stop;
    this.#stopped = true;
  }

  #start(): void {
    if (this.#hasStarted) return;
    this.#hasStarted = true;
    const fixed = { type: 'message', role: 'assistant', content: [], stop_reason: null, stop_sequence: null };
    const message = { id: `msg_${randomUUID()}`, model: this.#model, ...fixed, usage: this.#tokens() };
    this.#put('message_start', { message });
  }

  /** Starts a content block, unless that block is already open. */
  #openBlock(key: string | number | undefined, block: DataObject): void {
    this.#start();
    if (this.#isOpen && this.#key === key) return;
    this.#closeBlock();
    this.#index += 1;
    this.#key = key;
    this.#isOpen = true;
    this.#put('content_block_start', { index: this.#index, content_block: block });
  }

  #closeBlock(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#put('content_block_stop', { index: this.#index });
  }

  #tokens(): DataObject {
    return { input_tokens: this.#usage?.prompt ?? 0, output_tokens: this.#usage?.completion ?? 0 };
  }

  #fail(message: string, code: string): void {
    this.#failed = true;
    const { error } = errorBody(this.#call, { message: `${message} (${code})`, type: 'api_error', code });
    this.#put('error', { error });
  }

  #put(type: string, fields: object): void {
    this.#write(Buffer.from(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`));
  }
}
