import { create, type DescField, ScalarType, toBinary } from '@bufbuild/protobuf';
import { BackendError, type Data, isObject, mayLoseDigits, type PipeRequest, parseExact } from '#contract';
import type { DescMessage, GrpcCatalog, Message } from '../../engines/grpc/catalog.ts';
import { assign, MessageReader } from '../../engines/grpc/from-data.ts';
import { refused, ValueError } from '../../engines/grpc/scalars.ts';
import { isStruct, wrapped } from '../../engines/grpc/to-data.ts';
import type { Config } from './schema.ts';

/** A field, and the message fields that contain it, outermost first. */
export interface FieldPath {
  readonly within: readonly (DescField & { fieldKind: 'message' })[];
  readonly field: DescField;
}

/** Maximum number of cached parameter names and their fields. */
const KEPT_NAMES = 1000;

/** Builds request messages from the body, then from path variables and query strings. */
export class RequestMessages {
  readonly #type: DescMessage;
  readonly #reader: MessageReader;
  readonly #config: Config;
  readonly #mapped: ReadonlyMap<string, FieldPath | null>;
  readonly #named = new Map<string, FieldPath | null>();

  constructor(registry: GrpcCatalog['registry'], type: DescMessage, config: Config) {
    this.#type = type;
    this.#config = config;
    this.#reader = new MessageReader(registry, {
      names: config.request_naming_convention,
      takesPlainBytes: config.input_assume_bytes,
    });
    const operator = new MessageReader(registry, { names: 'both', takesPlainBytes: false });
    this.#mapped = new Map(
      Object.entries(config.input_mapping).map(([name, path]) => [name, fieldPath(operator, type, path)]),
    );
  }

  /** Names of parameters that are mapped to a field that does not exist. */
  get unmapped(): readonly string[] {
    return [...this.#mapped].filter(([, path]) => path === null).map(([name]) => name);
  }

  /** Encodes the message. @throws BackendError GRPC_VALUE, GRPC_BODY for invalid client input. */
  encode(request: PipeRequest): Uint8Array | Promise<Uint8Array> {
    const { body } = request;
    if (!this.#config.use_request_body || body === null) return this.#encode(request, null);
    const bytes = body.bytesToParse();
    return bytes instanceof Promise ? bytes.then((all) => this.#encode(request, all)) : this.#encode(request, bytes);
  }

  #encode(request: PipeRequest, body: Uint8Array | null): Uint8Array {
    try {
      const data = body === null ? null : dataOf(body);
      const message = data === null ? (create(this.#type) as unknown as Message) : this.#reader.read(this.#type, data);
      if (!this.#config.disable_query_params) this.#fill(message, request);
      return toBinary(this.#type, message as never);
    } catch (error) {
      throw error instanceof BackendError ? error : clientError('GRPC_VALUE', (error as Error).message, error);
    }
  }

  #fill(message: Message, { params, query }: PipeRequest): void {
    for (const name of Object.keys(params)) {
      const path = this.#pathOf(name) ?? this.#pathOf(name.charAt(0).toLowerCase() + name.slice(1));
      if (path) this.#set(message, path, name, [params[name]!]);
    }
    if (query.size === 0) return;
    for (const [name, values] of query) {
      const path = this.#pathOf(name);
      if (path && values.length > 0) this.#set(message, path, name, values);
    }
  }

  #pathOf(name: string): FieldPath | null {
    const mapped = this.#mapped.get(name);
    if (mapped !== undefined) return mapped;
    let path = this.#named.get(name);
    if (path === undefined) {
      path = fieldPath(this.#reader, this.#type, name);
      if (this.#named.size < KEPT_NAMES) this.#named.set(name, path);
    }
    return path;
  }

  #set(message: Message, { within, field }: FieldPath, name: string, texts: readonly string[]): void {
    let at = message;
    for (const outer of within) at = inner(at, outer);
    if (field.fieldKind === 'list') at[field.localName] = texts.map((text) => this.#item(field, text, name));
    else assign(at, field, this.#item(field, texts[0]!, name));
  }

  #item(field: DescField, text: string, name: string): unknown {
    const type = field.scalar ?? (field.message && wrapped(field.message)?.scalar);
    return this.#reader.readItem(field, type === ScalarType.BOOL ? readBoolean(text, name) : text, name);
  }
}

function readBoolean(text: string, name: string): boolean {
  if (text === 'true' || text === '1') return true;
  return text === 'false' || text === '0' ? false : refused(name, 'true or false');
}

/** Resolves a path to a field; null if it does not lead to a field that can hold a text. */
function fieldPath(reader: MessageReader, type: DescMessage, path: string): FieldPath | null {
  const names = path.split('.', MAX_STEPS + 1);
  if (names.length > MAX_STEPS) return null;
  const within: (DescField & { fieldKind: 'message' })[] = [];
  let at = type;
  for (const name of names.slice(0, -1)) {
    const field = reader.field(at, name);
    if (field?.fieldKind !== 'message' || isStruct(field) || wrapped(field.message)) return null;
    within.push(field);
    at = field.message;
  }
  const field = reader.field(at, names.at(-1)!);
  return field && field.fieldKind !== 'map' ? { within, field } : null;
}

const MAX_STEPS = 32;

/** Returns the message in a field, creating it if it is unset. */
function inner(message: Message, field: DescField & { fieldKind: 'message' }): Message {
  const group = field.oneof && (message[field.oneof.localName] as { case?: string; value?: unknown });
  const there = group ? (group.case === field.localName ? group.value : undefined) : message[field.localName];
  if (there) return there as Message;
  const made = create(field.message) as unknown as Message;
  assign(message, field, made);
  return made;
}

/** Parses the body; null if it is empty. @throws BackendError GRPC_BODY if it is not a JSON object. */
function dataOf(bytes: Uint8Array): Data {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
  if (text.trim() === '') return null;
  let data: Data;
  try {
    data = mayLoseDigits(text) ? parseExact(text) : JSON.parse(text);
  } catch (error) {
    throw clientError('GRPC_BODY', (error as Error).message, error);
  }
  if (!isObject(data)) throw clientError('GRPC_BODY', 'the body is not an object');
  return data;
}

function clientError(code: string, reason: string, cause?: unknown): BackendError {
  const options = { view: { status: 400 }, ...(cause instanceof ValueError || cause === undefined ? {} : { cause }) };
  return new BackendError(code, `the request does not match the message type of the method: ${reason}`, options);
}
