import { CallError, type PipeRequest, Reply, RequestBody, type Site, type Step, type Wrap } from '#contract';
import { readBody } from '../request-body.ts';
import { type Fields, requestFields } from './fields.ts';
import { readBodyAs, textOf } from './media.ts';
import { compileRenderer } from './renderer.ts';
import type { GeneratorConfig } from './schema.ts';

const nothing = new Uint8Array();

interface Received {
  readonly request: PipeRequest;
  /** The body. */
  readonly bytes: Uint8Array;
}

const fields: Fields<Received> = {
  ...requestFields,
  req_body: ({ request, bytes }) => readBodyAs(request.headers.get('content-type'), bytes),
  req_body_str: ({ bytes }) => textOf(bytes),
};

/** Puts what a template makes in the place of a request's body. Faults: those of `compileRenderer`. */
export function generatingRequests(site: Site<GeneratorConfig>): Wrap<PipeRequest> {
  const renderer = compileRenderer(site, fields);
  const { content_type: contentType } = site.config;
  const generate = (request: PipeRequest, bytes: Uint8Array): CallError | null => {
    let text: string;
    try {
      text = renderer.render({ request, bytes });
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
