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
import { usageListenersOf } from '../../services/usage.ts';
import { ChunkWriter } from './chunks.ts';
import { printable } from './failure.ts';
import type { Progress, Vendor } from './vendor.ts';

export interface StreamOptions {
  readonly vendor: Vendor;
  /** How the vendor's stream is cut into messages. */
  readonly messages: Messages;
  /** Chat-completion chunks are made of it; its model is named in them. Null where it passes as it is. */
  readonly model: string | null;
  /** Counts tokens; null where nobody measures. */
  readonly tokens: ((count: number) => void) | null;
}

/** Headers that speak of the vendor's bytes. */
const ofTheBytes = new Set(['content-length', 'content-encoding', 'content-type', 'etag', 'x-amzn-trailer']);

/**
 * Tells those who count of what a stream uses up, each time as its messages pass, and rewrites it where that is wanted. A stream
 * that passes as it is, and that nobody counts, is not looked into.
 */
export function streamingAnswers(site: BackendSite<DataObject>, options: StreamOptions): Wrap<PipeRequest> {
  const { model, tokens } = options;
  const begin = (reply: Reply, call: Call): Reply => {
    const { body, headers } = reply;
    if (reply.status !== 200 || reply.errors.length > 0 || body === null) return reply;
    const listeners = usageListenersOf(call);
    const isCounted = tokens !== null || listeners.length > 0;
    if (model === null && !isCounted) return reply;
    const encoding = headers.get('content-encoding')?.trim().toLowerCase() ?? 'identity';
    if (encoding !== 'identity') {
      discard(body);
      const reason = `the vendor was asked for a plain stream, and has sent one in ${JSON.stringify(encoding)}`;
      return Reply.failed(new BackendError('LLM_COMPRESSED', reason));
    }
    const report = (added: number): void => {
      tokens?.(added);
      for (const listener of listeners) listener(added);
    };
    const stream = body instanceof ByteStream ? body : streamOf(body);
    const read = reading(options.vendor, report, (failure) =>
      site.log.warning(
        `[LLM] ${options.vendor.name}/${options.vendor.version}: the stream has failed, code ${failure}`,
      ),
    );
    if (model === null) {
      reply.body = stream;
      watch(stream, options.messages, read);
      return reply;
    }
    headers.filter((name) => !ofTheBytes.has(name));
    headers.set('Content-Type', 'text/event-stream');
    reply.body = rewritten(stream, options.messages, read, model, () =>
      site.log.warning('[LLM] the stream has ended before its last message'),
    );
    return reply;
  };
  return (next) => (request, call) => {
    const reply = next(request, call);
    return reply instanceof Promise ? reply.then((raw) => begin(raw, call)) : begin(reply, call);
  };
}

function streamOf(bytes: Uint8Array): ByteStream {
  const stream = new ByteStream();
  stream.write(bytes);
  stream.end();
  return stream;
}

/** Reads the messages of one stream, and reports what each adds to what has been used. */
function reading(
  vendor: Vendor,
  report: (added: number) => void,
  onFailure: (code: string) => void,
): (message: DataObject) => Progress {
  const read = vendor.stream.open();
  let reported = 0;
  return (message) => {
    const progress = read(message);
    const total = progress.usage?.total ?? 0;
    if (total > reported) {
      report(total - reported);
      reported = total;
    }
    if (progress.failure === undefined) return progress;
    const failure = printable(progress.failure) || 'error';
    onFailure(failure);
    return { ...progress, failure };
  };
}

/** Reads a stream beside whoever it is for. */
function watch(stream: ByteStream, messages: Messages, read: (message: DataObject) => Progress): void {
  const reader = messages.open(
    (message) => {
      read(message);
      return null;
    },
    () => {},
  );
  stream.tap({
    write: (chunk) => reader.write(chunk),
    end: () => reader.end(),
    // Whoever reads the stream is told.
    fail() {},
  });
}

/**
 * A stream as chat-completion chunks: each as soon as its message is there, and no faster than the client takes them.
 * @param onCut called at an end that the vendor has not announced.
 */
function rewritten(
  body: ByteStream,
  messages: Messages,
  read: (message: DataObject) => Progress,
  model: string,
  onCut: () => void,
): ByteStream {
  const output = new ByteStream({ resume: () => body.resume(), cancel: (reason) => body.cancel(reason) });
  let wanted = true;
  let broken = false;
  const writer = new ChunkWriter(model, (bytes) => {
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
      body.cancel(failure);
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
        if (!writer.isWhole) onCut();
        writer.end();
        output.end();
      }),
    fail: (error) => output.fail(error),
  });
  return output;
}
