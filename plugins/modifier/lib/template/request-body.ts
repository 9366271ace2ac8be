import { CallError, type Data, type PipeRequest, Reply, RequestBody, type Site, type Step, type Wrap } from '#contract';
import { readBody } from '../request-body.ts';
import { readBodyAs, textOf } from './media.ts';
import { compileRenderer, frozenVariables } from './renderer.ts';
import { RequestView } from './request-view.ts';
import type { GeneratorConfig } from './schema.ts';

const nothing = new Uint8Array();

/** Puts what a template makes in the place of a request's body. Faults: those of `compileRenderer`. */
export function generatingRequests(site: Site<GeneratorConfig>): Wrap<PipeRequest> {
  const render = compileRenderer(site);
  const { content_type: contentType } = site.config;
  const variables = frozenVariables(site.config);
  const generate = (request: PipeRequest, bytes: Uint8Array): CallError | null => {
    let text: string;
    try {
      text = render(dataOf(request, bytes, variables));
    } catch (error) {
      if (error instanceof CallError) return error;
      throw error;
    }
    request.body = RequestBody.of(text);
    request.headers.set('Content-Type', contentType);
    request.headers.delete('content-encoding');
    return null;
  };
  return (next) => {
    const goOn = (request: PipeRequest, bytes: Uint8Array | CallError, call: Parameters<Step<PipeRequest>>[1]) => {
      const error = bytes instanceof Error ? bytes : generate(request, bytes);
      return error ? Reply.failed(error) : next(request, call);
    };
    return (request, call) => {
      const bytes = readBody(request.body) ?? nothing;
      return bytes instanceof Promise ? bytes.then((all) => goOn(request, all, call)) : goOn(request, bytes, call);
    };
  };
}

function dataOf(request: PipeRequest, bytes: Uint8Array, variables: Data): object {
  const view = new RequestView(request);
  const contentType = request.headers.get('content-type');
  let body: ReturnType<typeof readBodyAs> | undefined;
  return {
    variables,
    get req_body() {
      body ??= readBodyAs(contentType, bytes);
      return body;
    },
    get req_body_str() {
      return textOf(bytes);
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
