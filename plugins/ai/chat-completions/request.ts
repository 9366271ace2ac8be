import { type ClientRequest, type Data, type DataObject, isObject } from '#contract';
import type { ChatCompletion } from '../lib/chat.ts';
import { RequestError } from './failure.ts';
import { promptOf } from './messages.ts';
import { toolsOf } from './tools.ts';

/** A parsed request and its raw bytes. */
export interface Requested {
  readonly chat: ChatCompletion;
  readonly bytes: Uint8Array;
}

/** Fields that only identify or route a request at OpenAI. They do not affect the model's response and are ignored. */
const withoutEffect: ReadonlySet<string> = new Set([
  'metadata',
  'prompt_cache_key',
  'prompt_cache_retention',
  'safety_identifier',
  'service_tier',
  'store',
  'user',
]);

/** Fields that are not sent to any vendor, with the values that have no effect and are therefore accepted. */
const neutral: ReadonlyMap<string, readonly Data[]> = new Map<string, readonly Data[]>([
  ['frequency_penalty', [0]],
  ['presence_penalty', [0]],
  ['logprobs', [false]],
  ['top_logprobs', [0]],
  ['logit_bias', []],
  ['modalities', []],
  ['parallel_tool_calls', [true]],
]);

/** @throws RequestError. */
export async function readRequest({ body }: ClientRequest): Promise<Requested> {
  const bytes = body ? await body.bytesToParse() : new Uint8Array();
  const data = parse(bytes);
  return { bytes, chat: chatOf(data) };
}

function parse(bytes: Uint8Array): DataObject {
  let data: Data;
  try {
    data = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString());
  } catch {
    throw new RequestError('the request body is not valid JSON');
  }
  if (!isObject(data)) throw new RequestError('the request body must be a JSON object');
  return data;
}

function chatOf(data: DataObject): ChatCompletion {
  const fields = new Fields(data);
  const model = fields.text('model');
  const streams = fields.flag('stream');
  const messages = fields.take('messages');
  const options = fields.take('stream_options');
  const stops = fields.stops();
  const parameters = {
    ...fields.number('max_tokens', 1),
    ...fields.number('max_completion_tokens', 1, 'max_tokens'),
    ...fields.number('temperature', 0),
    ...fields.number('top_p', 0),
    ...fields.number('seed', Number.MIN_SAFE_INTEGER),
    ...fields.choices(),
    ...(stops.length > 0 && { stop: [...stops] }),
  };
  const tools = toolsOf(fields.take('tools'), fields.take('tool_choice'));
  fields.refuseOthers();
  if (model === undefined) throw missing('model');
  return {
    model,
    prompt: { ...promptOf(messages), ...tools },
    parameters,
    stops,
    streams,
    reportsUsage: isObject(options) && options['include_usage'] === true,
  };
}

function missing(param: string): RequestError {
  return new RequestError(`"${param}" is required`, { param, code: 'missing_required_parameter' });
}

/** Fields of a request. Each field is read once; null is treated as absent. */
class Fields {
  readonly #left: Map<string, Data>;

  constructor(data: DataObject) {
    this.#left = new Map(Object.entries(data).filter(([, value]) => value !== null));
  }

  take(name: string): Data | undefined {
    const value = this.#left.get(name);
    this.#left.delete(name);
    return value;
  }

  text(name: string): string | undefined {
    const value = this.take(name);
    if (value === undefined || (typeof value === 'string' && value !== '')) return value;
    throw wrong(name, 'must be a non-empty string');
  }

  flag(name: string): boolean {
    const value = this.take(name) ?? false;
    if (typeof value === 'boolean') return value;
    throw wrong(name, 'must be true or false');
  }

  number(name: string, minimum: number, as = name): { readonly [name: string]: number } {
    const value = this.take(name);
    if (value === undefined) return {};
    if (typeof value === 'number' && value >= minimum) return { [as]: value };
    throw wrong(name, `must be a number of at least ${minimum}`);
  }

  /**
   * Reads the requested number of choices. A value of 1 is omitted from the result, because it is every vendor's
   * default.
   */
  choices(): { readonly n?: number } {
    const { n } = this.number('n', 1) as { n?: number };
    return n === undefined || n === 1 ? {} : { n };
  }

  stops(): readonly string[] {
    const value = this.take('stop') ?? [];
    const list = typeof value === 'string' ? [value] : value;
    if (Array.isArray(list) && list.length <= 4 && list.every((stop) => typeof stop === 'string' && stop !== '')) {
      return list as string[];
    }
    throw wrong('stop', 'must be a string or an array of up to 4 strings');
  }

  refuseOthers(): void {
    for (const [name, value] of this.#left) {
      if (withoutEffect.has(name) || neutral.get(name)?.includes(value)) continue;
      if (isEmpty(value)) continue;
      throw new RequestError(`"${name}" is not supported`, { param: name, code: 'unsupported_parameter' });
    }
  }
}

function isEmpty(value: Data): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

function wrong(param: string, rule: string): RequestError {
  return new RequestError(`"${param}" ${rule}`, { param, code: 'invalid_value' });
}
