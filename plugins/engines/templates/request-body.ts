import { CallError, type PipeRequest, Reply, RequestBody, type Site, type Step, type Wrap } from '#contract';
import { type Fields, requestFields } from './fields.ts';
import { readClientBody, textOf } from './media.ts';
import { readBody } from './read-body.ts';
import { compileRenderer, type Renderer, type TemplateConfig } from './renderer.ts';

const nothing = new Uint8Array();

/** Source data for a request body. */
export interface ReceivedBody {
  readonly request: PipeRequest;
  readonly bytes: Uint8Array;
}

const fields: Fields<ReceivedBody> = {
  ...requestFields,
  req_body: ({ request, bytes }) => readClientBody(request.headers.get('content-type'), bytes),
  req_body_str: ({ bytes }) => textOf(bytes),
};

/** Settings of a body template and its content type. */
export interface BodyConfig extends TemplateConfig {
  readonly content_type: string;
}

/** Replaces a request's body with the output of a template. Faults: those of `compileRenderer`. */
export function generatingRequests(site: Site<BodyConfig>): Wrap<PipeRequest> {
  return replacingBody(compileRenderer(site, fields), site.config.content_type);
}

/** Replaces a request's body with the output of a renderer. */
export function replacingBody({ render }: Renderer<ReceivedBody>, contentType: string): Wrap<PipeRequest> {
  const generate = (request: PipeRequest, bytes: Uint8Array): CallError | null => {
    let text: string;
    try {
      text = render({ request, bytes });
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
