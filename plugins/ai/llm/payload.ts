import {
  type BackendSite,
  type Call,
  CallError,
  type DataObject,
  isObject,
  type PipeRequest,
  Reply,
  RequestBody,
  type Wrap,
} from '#contract';
import { type Fields, requestFields } from '../../engines/templates/fields.ts';
import { readClientBody, textOf } from '../../engines/templates/media.ts';
import { readBody } from '../../engines/templates/read-body.ts';
import { compileFile } from '../../engines/templates/renderer.ts';
import { outputLimit } from '../../shared/ports/model-usage.ts';
import { type ChatCompletion, chatSlot } from '../lib/chat.ts';
import { readPrompt } from '../lib/prompt.ts';
import type { Settings } from './schema.ts';
import { withOutputLimit } from './usage.ts';
import type { Payload, Vendor } from './vendor.ts';

interface Received {
  readonly request: PipeRequest;
  readonly bytes: Uint8Array;
  /** The chat completion; undefined if the request is in the format of `ai/llm`. */
  readonly chat: ChatCompletion | undefined;
  /** Maximum number of output tokens set by a token budget; undefined without a budget. Input templates set their own limit. */
  readonly limit: number | undefined;
}

const fields: Fields<Received> = {
  ...requestFields,
  req_body: ({ request, bytes }) => readClientBody(request.headers.get('content-type'), bytes),
  req_body_str: ({ bytes }) => textOf(bytes),
};

const nothing = new Uint8Array();

/**
 * Client headers that are not forwarded: those between client and gateway, and those that only the gateway sends to a
 * vendor.
 */
const dropped = new Set([
  'authorization',
  'proxy-authorization',
  'cookie',
  'x-api-key',
  'x-goog-api-key',
  'content-encoding',
  'content-length',
]);

export interface PayloadOptions {
  readonly vendor: Vendor;
  readonly settings: Settings;
  /** JSON pointer of the settings in the configuration. */
  readonly pointer: string;
  /** Whether to request a stream from the vendor. */
  readonly streams: boolean;
  /** Logs a text at DEBUG if `debug` is enabled. */
  readonly show: (what: string, text: () => string) => void;
}

/**
 * Replaces the client's body with the vendor's payload, and removes the headers that authenticate the client at the
 * gateway. A request without a prompt is rejected without calling the vendor.
 */
export function sendingPayload(site: BackendSite<DataObject>, options: PayloadOptions): Wrap<PipeRequest> {
  const { vendor, settings, streams, show } = options;
  const write = settings.input_template === undefined ? byDefault(options) : byTemplate(site, options);
  const { asks } = vendor.stream;
  const prepare = (request: PipeRequest, bytes: Uint8Array, call: Call): CallError | null => {
    const chat = call.get(chatSlot);
    request.headers.filter((name) => !dropped.has(name));
    let text: string;
    try {
      text = write({ request, bytes, chat, limit: call.get(outputLimit) });
    } catch (error) {
      if (error instanceof CallError) return error;
      throw error;
    }
    show('payload', () => text);
    request.body = RequestBody.of(text);
    request.headers.set('Content-Type', 'application/json');
    if (streams) {
      request.headers.set('Accept-Encoding', 'identity');
      if (asks !== 'payload' && chat?.streams !== false) request.target = streamTarget(request.target, asks);
    }
    return null;
  };
  return (next) => {
    const goOn = (request: PipeRequest, bytes: Uint8Array | CallError, call: Call) => {
      const error = bytes instanceof Error ? bytes : prepare(request, bytes, call);
      return error ? Reply.failed(error) : next(request, call);
    };
    return (request, call) => {
      const bytes = readBody(request.body) ?? nothing;
      return bytes instanceof Promise ? bytes.then((all) => goOn(request, all, call)) : goOn(request, bytes, call);
    };
  };
}

function byDefault({ vendor, settings, streams }: PayloadOptions): (received: Received) => string {
  const more: Payload = streams && vendor.stream.asks === 'payload' ? { stream: true } : {};
  return ({ bytes, chat, limit }) => {
    const prompt = chat ? chat.prompt : readPrompt(bytes);
    const written = chat ? { ...settings.variables, ...variablesOf(vendor, chat) } : settings.variables;
    const variables = withOutputLimit(vendor, written, limit);
    return JSON.stringify({
      ...present(vendor.payload(prompt, variables)),
      ...(chat?.streams !== false && more),
    });
  };
}

/** Maps the client's parameters to the vendor's names. @throws CallError LLM_PARAMETER, status 400. */
function variablesOf({ name, parameters }: Vendor, chat: ChatCompletion): DataObject {
  const variables: DataObject = {};
  for (const [parameter, value] of Object.entries(chat.parameters)) {
    const variable = parameters[parameter as keyof typeof parameters];
    if (variable !== undefined) variables[variable] = value;
    else if (parameter !== 'stop') {
      throw new CallError('LLM_PARAMETER', `"${parameter}" is not supported by models of ${name}`, {
        view: { status: 400 },
      });
    }
  }
  return variables;
}

/** Removes objects whose members are all undefined. Undefined values need no removal: they are not serialized. */
function present(payload: Payload): Payload {
  const kept = Object.entries(payload).filter(
    ([, value]) => !isObject(value) || Object.values(value).some((member) => member !== undefined),
  );
  return Object.fromEntries(kept);
}

function byTemplate(
  site: BackendSite<DataObject>,
  { settings: { input_template: path, variables, debug }, pointer }: PayloadOptions,
): (received: Received) => string {
  const file = { path: path!, pointer: `${pointer}/input_template`, variables, debug };
  const renderer = compileFile(site, file, fields);
  return (received) => renderer.render(received);
}

/** Converts a URL that requests a complete response to the URL that requests a stream. */
export function streamTarget(
  target: string,
  { path, becomes, query }: Exclude<Vendor['stream']['asks'], 'payload'>,
): string {
  const mark = target.indexOf('?');
  const before = mark < 0 ? target : target.slice(0, mark);
  const parameters =
    mark < 0
      ? []
      : target
          .slice(mark + 1)
          .split('&')
          .filter((each) => each !== '');
  const streaming = before.endsWith(path) ? before.slice(0, -path.length) + becomes : before;
  if (query !== undefined && !parameters.includes(query)) parameters.push(query);
  return parameters.length === 0 ? streaming : `${streaming}?${parameters.join('&')}`;
}
