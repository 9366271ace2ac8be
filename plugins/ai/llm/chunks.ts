import type { Call } from '#contract';
import { errorBody } from '../lib/chat.ts';
import { finishReason, identity, usageObject } from './completion.ts';
import type { Delta, Progress, StreamWriter, Usage } from './vendor.ts';

/** Writes a stream as chat-completion chunks in server-sent events. */
export class ChunkWriter implements StreamWriter {
  readonly #call: Call;
  readonly #write: (bytes: Uint8Array) => void;
  readonly #head: string;
  readonly #reportsUsage: boolean;
  /** Indexes of the candidates whose first chunk was written. */
  readonly #begun = new Set<number>();
  /** Indexes of each candidate's tool calls, by the vendor's key. */
  readonly #calls = new Map<number, Map<string | number, number>>();
  #usage: Usage | null = null;
  #stopped = false;
  #failed = false;

  /** @param call call whose ID is included in errors. @param reportsUsage whether the last chunk contains the token usage. */
  constructor(call: Call, model: string, write: (bytes: Uint8Array) => void, reportsUsage = true) {
    const { id, created } = identity();
    this.#head = `data: {"id":"${id}","object":"chat.completion.chunk","created":${created},"model":${JSON.stringify(model)},"choices":[`;
    this.#call = call;
    this.#write = write;
    this.#reportsUsage = reportsUsage;
  }

  /** Whether a complete response has been received. */
  get isWhole(): boolean {
    return this.#stopped && !this.#failed;
  }

  add({ deltas, usage, failure }: Progress): void {
    if (this.#failed) return;
    if (usage) this.#usage = usage;
    // The finish reason is sent in a chunk of its own, because many clients read only the first of several choices with
    // the same index.
    const texts = deltas.filter(({ text }) => text !== '');
    this.#putChoices(texts.map(({ index, text }) => this.#choice(index, text, null)));
    for (const { index, call } of deltas) if (call) this.#putChoices([this.#callChoice(index, call)]);
    const ended = deltas.filter(({ stop }) => stop !== undefined);
    this.#stopped ||= ended.length > 0;
    this.#putChoices(
      ended.map(({ index, stop }) => this.#choice(index, null, finishReason(stop, this.#calls.has(index)))),
    );
    if (failure !== undefined) {
      this.#fail('the model failed', failure);
    }
  }

  /** Ends the stream with the usage and `[DONE]`, or with an error if the vendor did not finish its stream. */
  end(): void {
    if (this.#failed) return;
    if (!this.#stopped) {
      this.#fail('the stream of the model ended before its last message', 'incomplete');
      return;
    }
    if (this.#usage && this.#reportsUsage) {
      this.#put(`${this.#head}],"usage":${JSON.stringify(usageObject(this.#usage))}}\n\n`);
    }
    this.#put('data: [DONE]\n\n');
  }

  #fail(message: string, code: string): void {
    this.#failed = true;
    this.#put(`data: ${JSON.stringify(errorBody(this.#call, { message, type: 'server_error', code }))}\n\n`);
  }

  #putChoices(choices: readonly string[]): void {
    if (choices.length > 0) this.#put(`${this.#head}${choices.join(',')}]}\n\n`);
  }

  #choice(index: number, text: string | null, reason: string | null): string {
    return this.#withDelta(index, text === null ? '' : `"content":${JSON.stringify(text)}`, reason);
  }

  /** Builds the delta of a tool call. Only the first delta of a call contains its ID and name. */
  #callChoice(index: number, { key, id, name, arguments: text }: NonNullable<Delta['call']>): string {
    const calls = this.#calls.get(index) ?? new Map<string | number, number>();
    this.#calls.set(index, calls);
    const isNew = !calls.has(key);
    if (isNew) calls.set(key, calls.size);
    const called = { ...(isNew && { name: name ?? '' }), arguments: text };
    const call = { index: calls.get(key), ...(isNew && { id: id ?? '', type: 'function' }), function: called };
    return this.#withDelta(index, `"tool_calls":${JSON.stringify([call])}`, null);
  }

  #withDelta(index: number, content: string, reason: string | null): string {
    const role = this.#begun.has(index) ? '' : '"role":"assistant"';
    this.#begun.add(index);
    const delta = role && content ? `${role},${content}` : role + content;
    return `{"index":${index},"delta":{${delta}},"finish_reason":${reason === null ? null : JSON.stringify(reason)}}`;
  }

  #put(text: string): void {
    this.#write(Buffer.from(text));
  }
}
