import {
  type AtBackend,
  atBackend,
  type BackendSite,
  definePlugin,
  type Infer,
  inheritsMethod,
  type PipeRequest,
  type Schema,
  type Wrap,
} from '#contract';
import { type Fields, requestFields } from '../engines/templates/fields.ts';
import { readClientBody, textOf } from '../engines/templates/media.ts';
import { compileRenderer } from '../engines/templates/renderer.ts';
import { type ReceivedBody, replacingBody } from '../engines/templates/request-body.ts';

/** Base64 of the template `<c>{{ xmlEscape .req_params.Country }}</c>`. */
const example = 'PGM+e3sgeG1sRXNjYXBlIC5yZXFfcGFyYW1zLkNvdW50cnkgfX08L2M+';

const schema = {
  type: 'object',
  title: 'SOAP',
  exactlyOneOf: [['path', 'template']],
  examples: [{ template: example }, { template: example, content_type: 'application/soap+xml; charset=utf-8' }],
  properties: {
    path: {
      type: 'string',
      minLength: 1,
      description: 'Template file, relative to the working directory. Watched for changes.',
      examples: ['./capital.xml'],
    },
    template: {
      type: 'string',
      minLength: 1,
      description: 'Base64-encoded template in the Go text/template language, with the Sprig functions and xmlEscape.',
      examples: [example],
    },
    content_type: {
      type: 'string',
      pattern: '^[\\x20-\\x7e]+$',
      description: 'Content-Type of the request: text/xml for SOAP 1.1, application/soap+xml for 1.2.',
      default: 'text/xml',
    },
    debug: { type: 'boolean', description: 'Logs requests and responses at DEBUG.', default: false },
  },
} as const satisfies Schema;

type Config = Infer<typeof schema>;

/**
 * Renders the XML body of requests to a SOAP server from a template. The response is decoded like any XML.
 *
 * Configuration faults: those of `compileRenderer`; warning `SOAP_UNESCAPED`. Call errors: `TEMPLATE_EXECUTION`,
 * `TEMPLATE_LIMIT`.
 */
export const plugin = definePlugin({
  name: 'backend/soap',
  description: 'Renders the XML body of requests to a SOAP server from a template.',
  leaves: ['data'],
  places: [atBackend(schema, attach)],
});

function attach(site: BackendSite<Config>): AtBackend {
  const { config, backend, log } = site;
  const name = config.path ?? 'template';
  const fields: Fields<ReceivedBody> = {
    ...requestFields,
    req_path: ({ request }) => pathOf(request.target),
    // A body without a content type is not parsed, because its format is unknown.
    req_body: ({ request: { headers }, bytes }) =>
      headers.has('content-type') ? readClientBody(headers.get('content-type'), bytes, log) : null,
    req_body_str: ({ bytes }) => textOf(bytes),
  };
  const renderer = compileRenderer(site, fields);
  const at = config.path === undefined ? '/template' : '/path';
  for (const action of unescapedActions(renderer.text)) {
    site.warn(
      'SOAP_UNESCAPED',
      at,
      `${name} prints ${action} without escaping: markup in the value becomes part of the message`,
      {
        hint: `${action.replace(/\s*-?\}\}$/, '')} | xmlEscape }}`,
      },
    );
  }
  const render = (received: ReceivedBody): string => {
    const text = renderer.render(received);
    const missing = text.indexOf('<no value>');
    if (missing >= 0)
      log.debug(() => `[SOAP] ${name}: a field is missing in line ${lineOf(text, missing)} of the message`);
    return text;
  };
  const replace = replacingBody({ ...renderer, render }, config.content_type);
  return { backend: backend[inheritsMethod] ? (next) => posting(replace(next)) : replace };
}

/** Line number of a position, from 1. */
function lineOf(text: string, at: number): number {
  return text.slice(0, at).split('\n').length;
}

/** Path of the backend request, without its query. */
function pathOf(target: string): string {
  const [path = ''] = target.split('?', 1);
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Uses POST if the backend does not set a method. */
function posting(next: ReturnType<Wrap<PipeRequest>>): ReturnType<Wrap<PipeRequest>> {
  return (request, call) => {
    request.method = 'POST';
    return next(request, call);
  };
}

/** Keywords of actions that print nothing, and functions whose result contains no markup. */
const silent = /^(?:if|else|end|range|with|define|block|template|break|continue)\b|^\/\*|^\$\w+\s*:?=/;
const escaping =
  /(?<![.$\w])(?:xmlEscape|html|urlquery|b64enc|b32enc|len|int|int64|float64|atoi|sha1sum|sha256sum|now|date|uuidv4)\b/;

/** Finds actions that print a value of the request without escaping it, each once. */
function unescapedActions(text: string): string[] {
  const actions = new Set(text.match(/\{\{[^{}]*\}\}/g) ?? []);
  return [...actions].filter((action) => {
    const inner = action.replace(/^\{\{-?\s*|\s*-?\}\}$/g, '');
    return /(?:^|[\s(|])[.$]/.test(inner) && !silent.test(inner) && !escaping.test(inner);
  });
}
