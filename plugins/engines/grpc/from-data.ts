import { create, type DescField, fromJson } from '@bufbuild/protobuf';
import { type Data, type DataObject, isObject } from '#contract';
import type { DescMessage, GrpcCatalog, Message } from './catalog.ts';
import { MAX_DEPTH, readEnum, readMapKey, readScalar, refused, type ScalarOptions } from './scalars.ts';
import { type Moment, parseDuration, parseTimestamp } from './times.ts';
import { isStruct, wrapped } from './to-data.ts';

/** Options for converting data to messages. */
export interface FromDataOptions extends ScalarOptions {
  /** Names of fields: as in the descriptor, as in JSON, or either. */
  readonly names: 'snake_case' | 'camelCase' | 'both';
}

/** Fields of a type by their names in the data. */
type Fields = ReadonlyMap<string, DescField>;

/**
 * Converts data to messages by the JSON mapping of protocol buffers: 64-bit numbers as numbers or strings, bytes in
 * base64, enums by name or number, times as strings or objects. Unknown keys and null are ignored.
 * Throws `ValueError` with the path of the field for a value that cannot be converted.
 */
export class MessageReader {
  readonly #options: FromDataOptions;
  readonly #registry: GrpcCatalog['registry'];
  readonly #fields = new Map<DescMessage, Fields>();

  constructor(registry: GrpcCatalog['registry'], options: FromDataOptions) {
    this.#registry = registry;
    this.#options = options;
  }

  /** The field for a name in the data; undefined if unknown. */
  field(type: DescMessage, name: string): DescField | undefined {
    return this.#fieldsOf(type).get(name);
  }

  /** @throws ValueError */
  read(type: DescMessage, data: Data, path = ''): Message {
    return this.#message(type, data, path, 0);
  }

  /** Converts one item of a field; for a list, one of its elements. @throws ValueError */
  readItem(field: DescField, data: Data, path: string, depth = 0): unknown {
    if (field.scalar !== undefined) return readScalar(field.scalar, data, path, this.#options);
    if (field.enum !== undefined) return readEnum(field.enum, data, path);
    const type = field.message!;
    const value = field.fieldKind === 'message' && !field.oneof ? wrapped(type) : undefined;
    if (value) return readScalar(value.scalar, data, path, this.#options);
    if (isStruct(field)) return isObject(data) ? data : refused(path, type.typeName);
    return this.#message(type, data, path, depth + 1);
  }

  #message(type: DescMessage, data: Data, path: string, depth: number): Message {
    if (depth > MAX_DEPTH) refused(path, `a message with at most ${MAX_DEPTH} nested levels`);
    const known = this.#wellKnown(type, data, path);
    if (known) return known;
    if (!isObject(data)) refused(path, type.typeName);
    const message = create(type) as unknown as Message;
    const fields = this.#fieldsOf(type);
    for (const name of Object.keys(data as DataObject)) {
      const field = fields.get(name);
      const value = (data as DataObject)[name]!;
      if (!field || (value === null && !takesNull(field))) continue;
      this.#set(message, field, value, path === '' ? name : `${path}.${name}`, depth);
    }
    return message;
  }

  #set(message: Message, field: DescField, value: Data, path: string, depth: number): void {
    if (field.fieldKind === 'list') {
      if (!Array.isArray(value)) refused(path, 'a list');
      message[field.localName] = (value as Data[]).map((item, at) =>
        this.readItem(field, item, `${path}[${at}]`, depth),
      );
    } else if (field.fieldKind === 'map') {
      if (!isObject(value)) refused(path, 'an object');
      message[field.localName] = this.#map(field, value as DataObject, path, depth);
    } else {
      assign(message, field, this.readItem(field, value, path, depth));
    }
  }

  #map(field: DescField & { fieldKind: 'map' }, data: DataObject, path: string, depth: number): object {
    const entries: Record<string, unknown> = {};
    for (const [key, item] of Object.entries(data)) {
      const at = `${path}.${key}`;
      const value = this.readItem(field, item, at, depth);
      const name = readMapKey(field.mapKey, key, at);
      Object.defineProperty(entries, name, { value, enumerable: true, configurable: true, writable: true });
    }
    return entries;
  }

  #wellKnown(type: DescMessage, data: Data, path: string): Message | undefined {
    switch (type.typeName) {
      case 'google.protobuf.Timestamp':
        return typeof data === 'string' ? moment(type, parseTimestamp(data), path) : undefined;
      case 'google.protobuf.Duration':
        return typeof data === 'string' ? moment(type, parseDuration(data), path) : undefined;
      case 'google.protobuf.Any':
      case 'google.protobuf.Struct':
      case 'google.protobuf.Value':
      case 'google.protobuf.ListValue':
      case 'google.protobuf.FieldMask':
        return this.#fromJson(type, data, path);
    }
    const value = wrapped(type);
    if (!value) return undefined;
    const message = create(type) as unknown as Message;
    message[value.localName] = readScalar(value.scalar, data, path, this.#options);
    return message;
  }

  #fromJson(type: DescMessage, data: Data, path: string): Message {
    try {
      return fromJson(type, data as never, { registry: this.#registry }) as unknown as Message;
    } catch {
      return refused(path, type.typeName);
    }
  }

  #fieldsOf(type: DescMessage): Fields {
    let fields = this.#fields.get(type);
    if (!fields) {
      const { names } = this.#options;
      const byName = new Map<string, DescField>();
      if (names !== 'snake_case') for (const field of type.fields) byName.set(field.jsonName, field);
      // If two fields have the same name in the data, the one with this name in the descriptor takes precedence.
      if (names !== 'camelCase') for (const field of type.fields) byName.set(field.name, field);
      fields = byName;
      this.#fields.set(type, fields);
    }
    return fields;
  }
}

/** Sets a singular field. */
export function assign(message: Message, field: DescField, value: unknown): void {
  if (field.oneof) message[field.oneof.localName] = { case: field.localName, value };
  else message[field.localName] = value;
}

function moment(type: DescMessage, parsed: Moment | undefined, path: string): Message {
  return parsed ? (create(type, parsed as never) as unknown as Message) : refused(path, type.typeName);
}

/** Whether null is a value of the field's type. */
function takesNull({ fieldKind, message, enum: values }: DescField): boolean {
  if (fieldKind === 'message') return message.typeName === 'google.protobuf.Value';
  return fieldKind === 'enum' && values.typeName === 'google.protobuf.NullValue';
}
