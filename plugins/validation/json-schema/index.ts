import { atEndpoint, before, CallError, definePlugin, PatternLimit, type PipeRequest, Reply, refuse } from '#contract';
import { compileValidator, type Validator } from './validator.ts';

const schema = {
  type: 'object',
  description:
    'JSON Schema of the request body, in draft 04, 06, 07, 2019-09 or 2020-12. `$schema` selects the draft; without it, the keywords of drafts 04, 06 and 07 apply. Formats are checked in every draft.',
  examples: [{ type: 'object', required: ['name'], properties: { name: { type: 'string', minLength: 2 } } }],
} as const;

/**
 * Rejects with 400 every request whose body is not JSON that matches the schema; no backend is called. Valid bodies are
 * forwarded byte for byte.
 * Configuration errors: `JSON_SCHEMA_INVALID`, `JSON_SCHEMA_DRAFT`, `JSON_SCHEMA_REFERENCE`, `PATTERN_INVALID`,
 * `JSON_SCHEMA_ENDLESS`, `JSON_SCHEMA_DEPTH`; warnings `JSON_SCHEMA_KEYWORD`, `JSON_SCHEMA_FORMAT` and
 * `JSON_SCHEMA_NO_BODY`. Errors of a call: `JSON_SCHEMA_EMPTY_BODY`, `JSON_SCHEMA_SYNTAX`, `JSON_SCHEMA_DEPTH`,
 * `PATTERN_LIMIT` and, with one line for each violation, `JSON_SCHEMA_VIOLATION`.
 */
export const plugin = definePlugin({
  name: 'validation/json-schema',
  description: 'Validates JSON request bodies before any backend is called.',
  freeKeys: true,
  leaves: ['requests', 'data'],
  sample: (config) => ({ body: config }),
  places: [
    atEndpoint(schema, (site) => {
      const validator = compileValidator(site.config, site);
      if (site.endpoint.method === 'GET') {
        const message = 'GET requests have no body, so every request is rejected';
        site.warn('JSON_SCHEMA_NO_BODY', '', message, { hint: 'set "method": "POST" on the endpoint' });
      }
      return {
        proxy: before<PipeRequest>(({ body }) => {
          if (body === null) return emptyBody();
          const bytes = body.bytesToParse();
          if (bytes instanceof Promise) return bytes.then((all) => check(validator, all), unreadable);
          return check(validator, bytes);
        }),
      };
    }),
  ],
});

function check(validator: Validator, bytes: Uint8Array): Reply | undefined {
  if (bytes.length === 0) return emptyBody();
  let lines: string | null;
  try {
    lines = validator.validateText(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString());
  } catch (error) {
    if (error instanceof SyntaxError) return refusal('JSON_SCHEMA_SYNTAX', error.message);
    if (error instanceof PatternLimit) return refusal(error.code, error.message);
    // The document is nested so deeply that the recursion exceeded the stack.
    if (error instanceof RangeError) return refusal('JSON_SCHEMA_DEPTH', 'the body is nested too deeply');
    throw error;
  }
  return lines === null ? undefined : refusal('JSON_SCHEMA_VIOLATION', lines);
}

function emptyBody(): Reply {
  return refusal('JSON_SCHEMA_EMPTY_BODY', 'could not validate an empty body');
}

function refusal(code: string, text: string): Reply {
  const reply = refuse(400, { error: new CallError(code, text) });
  // The request has entered the pipe, so the response is marked as incomplete.
  reply.complete = false;
  return reply;
}

/** Responds to a body that was not received completely: it is too large, or the client disconnected. */
function unreadable(error: unknown): Reply {
  if (error instanceof CallError) return Reply.failed(error);
  throw error;
}
