import {
  ByteStream,
  type Call,
  CallError,
  type DataObject,
  type EndpointSite,
  type MessageHook,
  type PipeRequest,
  Reply,
  type Wrap,
} from '#contract';
import { type Fields, listsOf, requestFields } from '../../../engines/templates/fields.ts';
import { documentReader, readBodyAs, textOf } from '../../../engines/templates/media.ts';
import { compileRenderer, type Renderer } from '../../../engines/templates/renderer.ts';
import { toData } from '../to-data.ts';
import { plainBytes } from './plain-bytes.ts';
import type { GeneratorConfig } from './schema.ts';

/** Maximum size of an undecoded body that is read for a template, in bytes. */
const LIMIT_BYTES = 64 * 1024 * 1024;

interface Answered {
  readonly request: PipeRequest;
  readonly reply: Reply;
  /** The undecoded body; null if the response is decoded. */
  readonly bytes: Uint8Array | null;
}

const fields: Fields<Answered> = {
  ...requestFields,
  resp_body: ({ reply, bytes }) => (bytes ? readBodyAs(reply.headers.get('content-type'), bytes) : reply.data),
  resp_body_str: ({ bytes }) => (bytes ? textOf(bytes) : ''),
  resp_status: ({ reply, bytes }) => (bytes ? BigInt(reply.status) : 0n),
  resp_headers: ({ reply, bytes }) => (bytes ? listsOf(reply.headers) : {}),
  resp_completed: ({ reply, bytes }) => bytes !== null || reply.complete === true,
};

/**
 * Replaces the data of a reply, or its undecoded body, by the output of a template.
 *
 * @throws ConfigError TEMPLATE_STREAM if replies are long-lived, and the errors of `compileRenderer`.
 */
export function generatingResponses(site: EndpointSite<GeneratorConfig>): Wrap<PipeRequest> {
  const { output_encoding: output } = site.endpoint;
  if (site.encoding(output)?.streams) {
    throw site.fault('TEMPLATE_STREAM', '', `a template requires a complete response, but ${output} streams it`, {
      hint: '"output_encoding": "no-op"',
    });
  }
  const renderer = compileRenderer(site, fields);
  const generator = new ResponseGenerator(renderer, site.config);
  const readsRequest = renderer.reads('req_');
  return (next) => (request, call) => {
    // The request is copied, because inner stages may change it.
    const seen = readsRequest ? request.copy() : request;
    const reply = next(request, call);
    const respond = (settled: Reply): Reply | Promise<Reply> => generator.respond(settled, seen, call);
    return reply instanceof Promise ? reply.then(respond) : respond(reply);
  };
}

/**
 * Replaces the data of each message of a stream by the output of a template.
 *
 * @throws ConfigError TEMPLATE_STREAM for output that is not JSON, and the errors of `compileRenderer`.
 */
export function generatingMessages(site: EndpointSite<GeneratorConfig>): MessageHook {
  const { content_type: type } = site.config;
  if (!documentReader(type)) {
    throw site.fault('TEMPLATE_STREAM', '/content_type', `messages of a stream are objects, which ${type} is not`, {
      hint: '"content_type": "application/json"',
    });
  }
  const generator = new ResponseGenerator(compileRenderer(site, fields), site.config);
  return (data, request) => {
    const reply = Reply.data(data);
    reply.complete = false;
    generator.replaceData(reply, request);
    return reply.data;
  };
}

class ResponseGenerator {
  readonly #renderer: Renderer<Answered>;
  readonly #contentType: string;
  readonly #read: (text: string) => DataObject;

  constructor(renderer: Renderer<Answered>, config: GeneratorConfig) {
    this.#renderer = renderer;
    this.#contentType = config.content_type;
    const read = documentReader(config.content_type);
    this.#read = read ? (text) => toData(read(text)) : (content) => ({ content });
  }

  respond(reply: Reply, request: PipeRequest, call: Call): Reply | Promise<Reply> {
    if (isRefusal(reply) || hasNoContent(reply)) return reply;
    if (reply.data !== null || reply.body === null) return this.#guarded(reply, () => this.replaceData(reply, request));
    const replace = (bytes: Uint8Array) => this.#guarded(reply, () => this.#replaceBody(reply, request, bytes));
    const { body } = reply;
    const bytes = plainBytes(
      body instanceof ByteStream ? body.collect(LIMIT_BYTES) : body,
      reply.headers.get('content-encoding'),
      LIMIT_BYTES,
    );
    if (!(bytes instanceof Promise)) return replace(bytes);
    return bytes.then(replace, (error) => Reply.failed(call.reason ? toFailure(call.reason) : toFailure(error)));
  }

  #guarded(reply: Reply, change: () => void): Reply {
    try {
      change();
      return reply;
    } catch (error) {
      if (error instanceof CallError) return Reply.failed(error);
      throw error;
    }
  }

  /** @throws CallError TEMPLATE_OUTPUT, and those of the template. */
  replaceData(reply: Reply, request: PipeRequest): void {
    const text = this.#renderer.render({ request, reply, bytes: null });
    try {
      reply.data = this.#read(text);
    } catch (cause) {
      throw new CallError(
        'TEMPLATE_OUTPUT',
        `the output of the template is not valid ${this.#contentType}: ${(cause as Error).message}`,
        {
          cause,
        },
      );
    }
  }

  #replaceBody(reply: Reply, request: PipeRequest, bytes: Uint8Array): void {
    const { headers } = reply;
    const output = Buffer.from(this.#renderer.render({ request, reply, bytes }));
    headers.set('Content-Type', this.#contentType);
    headers.set('Content-Length', String(output.length));
    headers.delete('content-encoding');
    reply.body = output;
    reply.trailers = null;
  }
}

/** Returns whether a template has no response to use. */
function isRefusal({ failed, skipped, complete, data, body, upgrade }: Reply): boolean {
  return failed || skipped || upgrade !== null || (complete === null && data === null && body === null);
}

/** Whether HTTP forbids a body with this status. */
function hasNoContent({ status }: Reply): boolean {
  return status === 204 || status === 304;
}

function toFailure(error: unknown): CallError {
  return error instanceof CallError ? error : new CallError('TEMPLATE_BODY', `the body cannot be read: ${error}`);
}
