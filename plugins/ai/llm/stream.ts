import {
  BackendError,
  type BackendSite,
  ByteStream,
  type Call,
  type DataObject,
  discard,
  type Messages,
  type PipeRequest,
  Reply,
  toCallError,
  type Wrap,
} from '#contract';
import { modelListenersOf, type Tokens } from '../../shared/ports/model-usage.ts';
import { usageListenersOf } from '../../shared/ports/usage.ts';
import { chatSlot } from '../lib/chat.ts';
import { ChunkWriter } from './chunks.ts';
import { completed } from './completed.ts';
import { printable } from './failure.ts';
import { MessageEventWriter } from './message-events.ts';
import { operationSlot } from './operation.ts';
import { cuttingAtStops } from './stop-sequences.ts';
import { type ReportUsage, tokensOf } from './usage.ts';
import type { Format, Progress, StreamWriter, Vendor } from './vendor.ts';

export interface StreamOptions {
  readonly vendor: Vendor;
  /** Splits the vendor's stream into messages. */
  readonly messages: Messages;
  /** Model name for a stream in another format; null to pass the stream unchanged. */
  readonly model: string | null;
  readonly format: Format;
  /** Counts tokens; null if no metrics are collected. */
  readonly tokens: ((count: number) => void) | null;
  readonly reportUsage: ReportUsage;
}

/** Response headers that describe the vendor's bytes and do not apply to a converted stream. */
const ofTheBytes = new Set(['content-length', 'content-encoding', 'content-type', 'etag', 'x-amzn-trailer']);

/**
 * Reports the token usage of a stream as its messages arrive, and rewrites the stream if a model name is set. A stream
 * that is neither rewritten nor counted is not parsed.
 */
export function streamingAnswers(site: BackendSite<DataObject>, options: StreamOptions): Wrap<PipeRequest> {
  const { vendor, tokens, reportUsage } = options;
  const begin = (reply: Reply, request: PipeRequest, call: Call): Reply | Promise<Reply> => {
    const { body, headers } = reply;
    if (reply.status !== 200 || reply.errors.length > 0 || body === null) return reply;
    const chat = call.get(chatSlot);
    const model = chat ? chat.model : options.model;
    const listeners = usageListenersOf(call);
    const operation = call.get(operationSlot);
    const isCounted =
      tokens !== null || operation !== undefined || listeners.length > 0 || modelListenersOf(call).length > 0;
    if (model === null && !isCounted) return reply;
    const encoding = headers.get('content-encoding')?.trim().toLowerCase() ?? 'identity';
    if (encoding !== 'identity') {
      discard(body);
      const reason = `the vendor sent a stream with Content-Encoding ${JSON.stringify(encoding)}, although the request did not accept it`;
      return Reply.failed(new BackendError('LLM_COMPRESSED', reason));
    }
    const report = (added: number): void => {
      tokens?.(added);
      for (const listener of listeners) listener(added);
    };
    const finish = (used: Tokens, failure: string | null) => {
      reportUsage(call, used);
      operation?.end(failure);
    };
    const stops = chat && vendor.parameters.stop === undefined ? chat.stops : [];
    if (chat && !chat.streams)
      return completed(reply, chat, { vendor, stops, report, finish: (used) => reportUsage(call, used) });
    const stream = body instanceof ByteStream ? body : streamOf(body);
    const promptBytes = request.body?.length ?? 0;
    const onFailure = (failure: string) =>
      site.log.warning(`[LLM] ${vendor.name}/${vendor.version}: the stream failed with code ${failure}`);
    const begun = () => operation?.begun();
    const reading = new Reading(vendor, promptBytes, { begun, report, finish, onFailure });
    if (model === null) {
      reply.body = stream;
      watch(stream, options.messages, reading);
      return reply;
    }
    headers.filter((name) => !ofTheBytes.has(name));
    headers.set('Content-Type', 'text/event-stream');
    reply.body = rewritten(stream, options.messages, {
      reading,
      stops,
      writer: (write) =>
        chat || options.format === 'openai'
          ? new ChunkWriter(call, model, write, chat?.reportsUsage)
          : new MessageEventWriter(call, model, write),
      onCut: () => site.log.warning('[LLM] the stream ended before its last message'),
    });
    return reply;
  };
  return (next) => (request, call) => {
    const reply = next(request, call);
    return reply instanceof Promise ? reply.then((raw) => begin(raw, request, call)) : begin(reply, request, call);
  };
}

function streamOf(bytes: Uint8Array): ByteStream {
  const stream = new ByteStream();
  stream.write(bytes);
  stream.end();
  return stream;
}

/** Bytes per token in UTF-8, to estimate the usage if the vendor did not report it: about right for most languages. */
const BYTES_A_TOKEN = 4;

/** Callbacks for the progress and the end of a stream. */
interface ReadingEvents {
  /** Called when the first message has arrived. May also be called for later messages. */
  begun(): void;
  /** Adds to the token usage. */
  report(added: number): void;
  /** @param failure of a stream that was not complete; null for a complete one. */
  finish(tokens: Tokens, failure: string | null): void;
  onFailure(code: string): void;
}

/**
 * Reads the messages of one stream, and reports how much each adds to the token usage. Vendors report usage at the end.
 * If a stream is cut off earlier, usage is estimated from the length of the payload and of the received text, so that
 * disconnecting early does not bypass a quota.
 */
class Reading {
  readonly #read: (message: DataObject) => Progress;
  readonly #on: ReadingEvents;
  #reported = 0;
  /** Tokens of the prompt, estimated from its length until the vendor reports them. */
  #prompt: number;
  #bytes = 0;
  #completion = 0;
  #hasStopped = false;
  #isFinal = false;
  #isFinished = false;
  /** Error code of the vendor. */
  #failure: string | null = null;

  /** @param promptBytes length of the payload sent to the vendor. */
  constructor(vendor: Vendor, promptBytes: number, on: ReadingEvents) {
    this.#read = vendor.stream.open();
    this.#prompt = Math.ceil(promptBytes / BYTES_A_TOKEN);
    this.#on = on;
  }

  readonly read = (message: DataObject): Progress => {
    this.#on.begun();
    const progress = this.#read(message);
    const { deltas, usage, failure } = progress;
    for (const { text, call, stop } of deltas) {
      this.#bytes += Buffer.byteLength(text) + Buffer.byteLength(call?.arguments ?? '');
      this.#hasStopped ||= stop !== undefined;
    }
    if (usage && usage.total > 0) {
      this.#raise(usage.total);
      this.#prompt = usage.prompt || this.#prompt;
      this.#completion = Math.max(this.#completion, tokensOf(usage).output);
      this.#isFinal ||= this.#hasStopped;
    }
    if (failure === undefined) return progress;
    const code = printable(failure) || 'error';
    this.#failure = code;
    this.#on.onFailure(code);
    return { ...progress, failure: code };
  };

  /** Reports the estimated usage of a stream that ended early or was canceled. */
  readonly cutOff = (): void => {
    if (!this.#isFinal) this.#raise(this.#prompt + this.#estimate);
    this.finish('cut');
  };

  /** Reports the usage of the whole stream, once. */
  readonly finish = (failure: string | null = this.#failure): void => {
    if (this.#isFinished) return;
    this.#isFinished = true;
    const output = this.#isFinal ? this.#completion : Math.max(this.#completion, this.#estimate);
    this.#on.finish({ input: this.#prompt, output }, failure);
  };

  get #estimate(): number {
    return Math.ceil(this.#bytes / BYTES_A_TOKEN);
  }

  #raise(total: number): void {
    if (total <= this.#reported) return;
    this.#on.report(total - this.#reported);
    this.#reported = total;
  }
}

/** Observes a stream without consuming it. */
function watch(stream: ByteStream, messages: Messages, { read, cutOff, finish }: Reading): void {
  const reader = messages.open(
    (message) => {
      read(message);
      return null;
    },
    () => {},
  );
  stream.tap({
    write: (chunk) => reader.write(chunk),
    end() {
      reader.end();
      finish();
    },
    // The error is ignored here, because the consumer of the stream receives it.
    fail: cutOff,
  });
}

interface Rewriting {
  readonly reading: Reading;
  /** Stop sequences at which the texts are cut off. */
  readonly stops: readonly string[];
  writer(write: (bytes: Uint8Array) => void): StreamWriter;
  /** Called when the stream ends before the vendor's last message. */
  onCut(): void;
}

/**
 * Converts a stream to another format. Each part is sent as soon as its message arrives, but no faster than the client
 * reads.
 */
function rewritten(
  body: ByteStream,
  messages: Messages,
  { reading: { read: readAll, cutOff, finish }, stops, writer: open, onCut }: Rewriting,
): ByteStream {
  const read = cuttingAtStops(readAll, stops);
  const cancel = (reason: Error): void => {
    cutOff();
    body.cancel(reason);
  };
  const output = new ByteStream({ resume: () => body.resume(), cancel });
  let wanted = true;
  let broken = false;
  const writer = open((bytes) => {
    wanted = output.write(bytes);
  });
  const reader = messages.open(
    (message) => {
      writer.add(read(message));
      return null;
    },
    () => {},
  );
  const guarded = (work: () => void): void => {
    if (broken) return;
    try {
      work();
    } catch (error) {
      const failure = toCallError(error);
      broken = true;
      cancel(failure);
      output.fail(failure);
    }
  };
  body.flow({
    write(chunk) {
      wanted = true;
      guarded(() => reader.write(chunk));
      return wanted;
    },
    end: () =>
      guarded(() => {
        reader.end();
        if (!writer.isWhole) {
          cutOff();
          onCut();
        }
        finish();
        writer.end();
        output.end();
      }),
    fail(error) {
      cutOff();
      output.fail(error);
    },
  });
  return output;
}
