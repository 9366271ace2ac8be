import {
  ByteStream,
  type Call,
  CallError,
  type Data,
  type DataObject,
  type EndpointSite,
  type PipeRequest,
  Reply,
  type Wrap,
} from '#contract';
import { toData } from '../to-data.ts';
import { documentReader, readBodyAs, textOf } from './media.ts';
import { plainBytes } from './plain-bytes.ts';
import { compileRenderer, frozenVariables, type Render } from './renderer.ts';
import { listsOf, RequestView } from './request-view.ts';
import type { GeneratorConfig } from './schema.ts';

/** Longest body that passes undecoded and is read for a template, in bytes. */
const LIMIT_BYTES = 64 * 1024 * 1024;

/**
 * Puts what a template makes in the place of a reply's data, or of its body where that passes undecoded.
 *
 * @throws ConfigError TEMPLATE_STREAM where replies are long-lived, and those of `compileRenderer`.
 */
export function generatingResponses(site: EndpointSite<GeneratorConfig>): Wrap<PipeRequest> {
  const { output_encoding: output } = site.endpoint;
  if (site.encoding(output)?.streams) {
    throw site.fault('TEMPLATE_STREAM', '', `a template needs a whole response, and ${output} passes it as it comes`, {
      hint: '"output_encoding": "no-op"',
    });
  }
  const generator = new ResponseGenerator(compileRenderer(site), site.config);
  return (next) => (request, call) => {
    // What stands inside may change the request.
    const seen = request.copy();
    const reply = next(request, call);
    const respond = (settled: Reply): Reply | Promise<Reply> => generator.respond(settled, seen, call);
    return reply instanceof Promise ? reply.then(respond) : respond(reply);
  };
}

class ResponseGenerator {
  readonly #render: Render;
  readonly #contentType: string;
  readonly #variables: Data;
  readonly #read: (text: string) => DataObject;

  constructor(render: Render, config: GeneratorConfig) {
    this.#render = render;
    this.#contentType = config.content_type;
    this.#variables = frozenVariables(config);
    const read = documentReader(config.content_type);
    this.#read = read ? (text) => toData(read(Buffer.from(text))) : (content) => ({ content });
  }

  respond(reply: Reply, request: PipeRequest, call: Call): Reply | Promise<Reply> {
    if (isRefusal(reply) || hasNoContent(reply)) return reply;
    if (reply.data !== null || reply.body === null)
      return this.#guarded(reply, () => this.#replaceData(reply, request));
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

  #replaceData(reply: Reply, request: PipeRequest): void {
    const { data, complete } = reply;
    const text = this.#render(
      this.#dataOf(request, { body: () => data, text: '', status: 0, headers: null, complete }),
    );
    try {
      reply.data = this.#read(text);
    } catch (cause) {
      throw new CallError(
        'TEMPLATE_OUTPUT',
        `the output of the template is no ${this.#contentType}: ${(cause as Error).message}`,
        {
          cause,
        },
      );
    }
  }

  #replaceBody(reply: Reply, request: PipeRequest, bytes: Uint8Array): void {
    const { status, headers } = reply;
    const body = () => readBodyAs(headers.get('content-type'), bytes);
    const raw = { body, text: textOf(bytes), status, headers, complete: true };
    const output = Buffer.from(this.#render(this.#dataOf(request, raw)));
    headers.set('Content-Type', this.#contentType);
    headers.set('Content-Length', String(output.length));
    headers.delete('content-encoding');
    reply.body = output;
    reply.trailers = null;
  }

  #dataOf(request: PipeRequest, { body, text, status, headers, complete }: Seen): object {
    const view = new RequestView(request);
    let data: Data | undefined;
    return {
      variables: this.#variables,
      resp_body_str: text,
      resp_status: BigInt(status),
      resp_completed: complete === true,
      get resp_body() {
        data ??= body();
        return data;
      },
      get resp_headers() {
        return headers ? listsOf(headers) : {};
      },
      get req_headers() {
        return view.headers;
      },
      get req_params() {
        return view.params;
      },
      get req_querystring() {
        return view.query;
      },
      get req_path() {
        return view.path;
      },
      get req_method() {
        return view.method;
      },
    };
  }
}

/** What a template sees of a reply. */
interface Seen {
  readonly body: () => Data;
  readonly text: string;
  readonly status: number;
  readonly headers: Reply['headers'] | null;
  readonly complete: boolean | null;
}

/** Nothing came back that a template could be about. */
function isRefusal({ failed, skipped, complete, data, body, upgrade }: Reply): boolean {
  return failed || skipped || upgrade !== null || (complete === null && data === null && body === null);
}

/** HTTP has no body for it. */
function hasNoContent({ status }: Reply): boolean {
  return status === 204 || status === 304;
}

function toFailure(error: unknown): CallError {
  return error instanceof CallError ? error : new CallError('TEMPLATE_BODY', `the body cannot be read: ${error}`);
}
