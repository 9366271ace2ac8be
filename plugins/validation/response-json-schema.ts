import {
  atBackend,
  atEndpoint,
  CallError,
  type Data,
  type DataObject,
  definePlugin,
  discard,
  type EndpointSite,
  getKey,
  gunzipBody,
  type Infer,
  type Log,
  PatternLimit,
  type PipeRequest,
  Reply,
  type Schema,
  toCallError,
  type Wrap,
} from '#contract';
import { compileValidator, type Validator } from './json-schema/validator.ts';

const schema = {
  type: 'object',
  title: 'Schema of responses',
  required: ['schema'],
  examples: [
    { schema: { type: 'object', required: ['id'] }, error: { status: 502, body: 'bad upstream' } },
    { schema: { type: 'object', properties: { name: { type: 'string' } } } },
  ],
  properties: {
    schema: {
      type: 'object',
      description: 'JSON Schema of the response data, in draft 04, 06, 07, 2019-09 or 2020-12.',
      examples: [{ type: 'object', required: ['id'] }],
    },
    error: {
      type: 'object',
      description: 'Response to the client if the response data is invalid.',
      examples: [{ status: 502, body: 'bad upstream' }],
      properties: {
        status: { type: 'integer', minimum: 200, maximum: 599, description: 'Response status.', default: 500 },
        body: {
          type: 'string',
          description: 'Response body. If empty, the body contains one line per violation.',
          default: '',
        },
        content_type: {
          type: 'string',
          pattern: '^[\\t\\x20-\\x7e]+$',
          description: 'Content-Type of the response body.',
          default: 'text/plain',
        },
      },
    },
  },
} as const satisfies Schema;

type ResponseSchemaConfig = Infer<typeof schema>;

/** Maximum size of an undecoded response body, in bytes. */
const BODY_LIMIT_BYTES = 64 * 1024 * 1024;

/** Maximum number of violations in the log. */
const LOGGED_LINES = 5;

/**
 * Replaces a response whose data does not match the schema by an error: the merged data at an endpoint, the shaped data
 * in a backend. Undecoded responses are parsed as JSON.
 * Configuration errors: those of `compileValidator`, `RESPONSE_SCHEMA_STREAM`. Error of a call:
 * `RESPONSE_SCHEMA_VIOLATION`.
 */
export const plugin = definePlugin({
  name: 'validation/response-json-schema',
  description: 'Validates response data before it is sent or merged.',
  freeKeys: true,
  leaves: ['requests', 'data'],
  places: [
    atEndpoint(schema, (site) => {
      const isCollection = site.endpoint.output_encoding === 'json-collection';
      const read = (data: DataObject): Data => (isCollection ? (getKey(data, 'collection') ?? []) : data);
      const raw = isRaw(site);
      return raw ? { proxy: validating(site, read) } : { proxy: validating(site, read), readsData: true };
    }),
    atBackend(schema, (site) => {
      const backend = validating(site, (data) => data);
      return isRaw(site) ? { backend } : { backend, readsData: true };
    }),
  ],
});

/** @throws ConfigError for an endless output. */
function isRaw(site: EndpointSite<unknown>): boolean {
  const output = site.encoding(site.endpoint.output_encoding);
  if (output?.streams || output?.messages) {
    throw site.fault(
      'RESPONSE_SCHEMA_STREAM',
      '',
      `a stream cannot be validated, because output_encoding "${output.name}" sends it before it is complete`,
      {
        hint: 'choose another output_encoding',
      },
    );
  }
  return output?.raw === true;
}

function validating(site: EndpointSite<ResponseSchemaConfig>, read: (data: DataObject) => Data): Wrap<PipeRequest> {
  const { config } = site;
  const validator = compileValidator(config.schema as DataObject, {
    fault: (code, pointer, ...more) => site.fault(code, `/schema${pointer}`, ...more),
    warn: (code, pointer, ...more) => site.warn(code, `/schema${pointer}`, ...more),
    pattern: (source, pointer) => site.pattern(source, `/schema${pointer}`),
  });
  const judge = new Judge(validator, config, site.log.at('[ResponseJSONSchema]'));
  const look = (reply: Reply): Reply | Promise<Reply> => {
    if (reply.failed || reply.skipped) return reply;
    if (reply.data) {
      const { data } = reply;
      return judge.check(reply, () => validator.validateData(read(data)));
    }
    if (reply.body === null)
      return reply.complete === null ? reply : judge.check(reply, () => validator.validateData({}));
    return judge.checkBody(reply);
  };
  return (next) => (request, call) => {
    const reply = next(request, call);
    return reply instanceof Promise ? reply.then(look) : look(reply);
  };
}

/** Checks replies against a schema and decides whether they pass. */
class Judge {
  readonly #validator: Validator;
  readonly #error: ResponseSchemaConfig['error'];
  readonly #log: Log;

  constructor(validator: Validator, { error }: ResponseSchemaConfig, log: Log) {
    this.#validator = validator;
    this.#error = error;
    this.#log = log;
  }

  /** @param validate returns the violations as lines; null for none. */
  check(reply: Reply, validate: () => string | null): Reply {
    const lines = attempt(validate);
    return lines === null ? reply : this.#refuse(reply, lines);
  }

  /** Reads the whole body and checks it. */
  checkBody(reply: Reply): Reply | Promise<Reply> {
    const { body } = reply;
    if (body instanceof Uint8Array) return this.#checkBytes(reply, body);
    const bytes = body!.collect(BODY_LIMIT_BYTES);
    if (bytes instanceof Uint8Array) return this.#checkBytes(reply, bytes);
    return bytes.then(
      (whole) => this.#checkBytes(reply, whole),
      (error) => Reply.failed(toCallError(error)),
    );
  }

  /** A compressed body is forwarded compressed. */
  #checkBytes(reply: Reply, bytes: Uint8Array): Reply | Promise<Reply> {
    reply.body = bytes;
    const plain = gunzipBody(bytes, reply.headers, BODY_LIMIT_BYTES);
    if (plain instanceof Promise) {
      return plain.then(
        (text) => this.#checkText(reply, text),
        (error) => Reply.failed(toCallError(error)),
      );
    }
    const coding = plain === bytes && bytes.length > 0 ? codingOf(reply) : null;
    return coding === null
      ? this.#checkText(reply, plain)
      : this.#refuse(reply, `- (root): the response is compressed with ${coding}, which cannot be read`);
  }

  #checkText(reply: Reply, bytes: Uint8Array): Reply {
    return this.check(reply, () => this.#validator.validateText(new TextDecoder().decode(bytes)));
  }

  #refuse(reply: Reply, lines: string): Reply {
    discard(reply.body);
    this.#log.error(() => lines.split('\n', LOGGED_LINES).join('\n'));
    const { status = 500, body = '', content_type: contentType = 'text/plain' } = this.#error ?? {};
    const view = body === '' ? { body: lines, contentType: 'text/plain' } : { body, contentType };
    return Reply.failed(
      new CallError('RESPONSE_SCHEMA_VIOLATION', 'the response does not match the schema', {
        view: { status, ...view, always: true },
      }),
    );
  }
}

/** Returns the content encoding of a body; null if it is not compressed. */
function codingOf({ headers }: Reply): string | null {
  const coding = headers.get('content-encoding')?.trim().toLowerCase() ?? '';
  return coding === '' || coding === 'identity' ? null : coding;
}

/** A reply that cannot be validated is rejected. */
function attempt(validate: () => string | null): string | null {
  try {
    return validate();
  } catch (error) {
    if (error instanceof SyntaxError) return `- (root): ${error.message}`;
    if (error instanceof PatternLimit) return `- (root): ${error.message}`;
    // The response is nested so deeply that the recursion exceeded the stack.
    if (error instanceof RangeError) return '- (root): the response is nested too deeply';
    throw error;
  }
}
