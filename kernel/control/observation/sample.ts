import {
  Capture,
  type ClientRequest,
  captureReply,
  type Data,
  type DataObject,
  type HeaderBag,
  isObject,
  type Masks,
  type Reply,
} from '#contract';
import type { Stage } from '../../pipeline/steps/stages.ts';
import { isTimed, noTimes, type StageTimes } from '../../pipeline/steps/timing.ts';
import type { Observable } from '../../pipeline/traffic/observer.ts';
import type { ObservedMessage, ObservedSample, ObservedTimes } from './observed-request.ts';

/** Maximum size of a captured body, in bytes. */
const MAX_BODY_BYTES = 4096;

/** Maximum number of headers of a message, and of characters in each value. */
const MAX_HEADERS = 64;
const MAX_VALUE = 512;

/** Maximum number of values in decoded data that is encoded to be shown. */
const MAX_VALUES = 500;

/** A sampled request while it is processed: the times of its stages, and what was captured of its messages. */
export class Sample {
  readonly times: StageTimes;
  readonly #endpoint: Observable;
  readonly #isTimed: boolean;
  readonly #requestHeaders: HeaderBag;
  readonly #requestBody = new Capture(MAX_BODY_BYTES);
  /** Length of the request body, if it was announced; 0 without a body. */
  readonly #requestLength: number | undefined;
  readonly #responseBody = new Capture(MAX_BODY_BYTES);
  #responseHeaders: HeaderBag | null = null;
  /** Decoded data to encode; null without. */
  #data: DataObject | null = null;
  /** Reason why the response body is omitted; null if it is not. */
  #omitted: string | null = null;
  #pipeMs = 0;

  /** @param isTimed whether its pipe is timed. */
  constructor(endpoint: Observable, { headers, body }: ClientRequest, isTimed: boolean) {
    this.#endpoint = endpoint;
    this.#isTimed = isTimed;
    this.times = noTimes(endpoint.stages);
    this.#requestHeaders = headers.copy();
    this.#requestLength = body ? body.length : 0;
    body?.tap(this.#requestBody.add);
  }

  /** Notes the reply of the pipe, whose body is captured as it is written. */
  replied(reply: Reply, pipeMs: number): Reply {
    this.#pipeMs = pipeMs;
    this.#responseHeaders = reply.headers.copy();
    if (reply.data === null && !reply.failed) captureReply(reply, this.#responseBody);
    else if (reply.data === null) this.#omitted = 'error response';
    // Large data is not kept until it is printed.
    else if (isSmall(reply.data)) this.#data = reply.data;
    else this.#omitted = 'too long';
    return reply;
  }

  /** The sample with credentials masked. @param completed whether the response was sent completely. */
  print(masks: Masks, completed: boolean): ObservedSample {
    const isRead = this.#requestLength === undefined ? completed : this.#requestBody.length === this.#requestLength;
    return {
      times: this.#isTimed ? this.#printTimes() : null,
      request: printMessage(this.#requestHeaders, bodyOf(this.#requestBody, isRead), masks),
      response: this.#responseHeaders
        ? printMessage(this.#responseHeaders, this.#responseContent(), masks)
        : { headers: [], body: null, omitted: 'no response' },
    };
  }

  #responseContent(): Uint8Array | string {
    if (this.#omitted !== null) return this.#omitted;
    if (this.#data === null) return bodyOf(this.#responseBody, this.#responseBody.isComplete);
    try {
      const { body } = this.#endpoint.output.encode!(this.#data, this.#requestHeaders.get('accept'));
      const bytes = typeof body === 'string' ? Buffer.from(body) : body;
      return bytes.length > MAX_BODY_BYTES ? 'too long' : bytes;
    } catch {
      return 'cannot be encoded';
    }
  }

  #printTimes(): ObservedTimes {
    const { around, backends } = this.times;
    const { stages } = this.#endpoint;
    return {
      pipeUs: microseconds(this.#pipeMs),
      aroundUs: printStages(around, stages.around),
      backends: backends.map(({ calls, total, stages: times }, at) => ({
        calls,
        totalUs: microseconds(total),
        stagesUs: printStages(times, stages.backends[at]!.stages),
      })),
    };
  }
}

function printStages(times: readonly number[], stages: readonly Stage[]): (number | null)[] {
  return times.map((time, at) => (isTimed(stages[at]!) ? microseconds(time) : null));
}

/** A stage that ended before the stages inside it has less time than they have. */
function microseconds(ms: number): number {
  return Math.max(0, Math.round(ms * 1000));
}

/** The captured bytes, or the reason why they are omitted. */
function bodyOf(capture: Capture, isComplete: boolean): Uint8Array | string {
  const { bytes } = capture;
  if (bytes === null) return capture.isTooLong ? 'too long' : 'incomplete';
  return isComplete ? bytes : 'incomplete';
}

function printMessage(headers: HeaderBag, content: Uint8Array | string, masks: Masks): ObservedMessage {
  const shown = [...headers].slice(0, MAX_HEADERS).map(([name, value]): [string, string] => {
    const masked = masks.header(name, value);
    return [name, masked.length > MAX_VALUE ? `${masked.slice(0, MAX_VALUE)}…` : masked];
  });
  const coding = headers.get('content-encoding') ?? 'identity';
  const body =
    typeof content !== 'string' && coding.toLowerCase() !== 'identity' && content.length > 0 ? 'compressed' : content;
  if (typeof body === 'string') return { headers: shown, body: null, omitted: body };
  const masked = body.length === 0 ? body : masks.body(body, headers.get('content-type') ?? '');
  if (masked === null) return { headers: shown, body: null, omitted: 'cannot be masked' };
  return { headers: shown, body: new TextDecoder().decode(masked), omitted: null };
}

/** Whether data has so few and so short values that encoding it takes microseconds. */
function isSmall(data: Data): boolean {
  let values = MAX_VALUES;
  let bytes = MAX_BODY_BYTES;
  const visit = (value: Data): boolean => {
    if (typeof value === 'string') bytes -= value.length;
    if (--values < 0 || bytes < 0) return false;
    if (Array.isArray(value)) return value.every(visit);
    return !isObject(value) || Object.keys(value).every((key) => visit(value[key]!));
  };
  return visit(data);
}
