import { type DescEnum, type DescField, ScalarType, toJson } from '@bufbuild/protobuf';
import { base64Encode } from '@bufbuild/protobuf/wire';
import { type Data, type DataObject, setKey } from '#contract';
import type { DescMessage, GrpcCatalog, Message } from './catalog.ts';
import { formatDuration, formatTimestamp } from './times.ts';

/** Options for converting messages to data. */
export interface ToDataOptions {
  /** Names of fields: as in the descriptor, or as in JSON. */
  readonly names: 'snake_case' | 'camelCase';
  readonly enumsAsText: boolean;
  readonly timestampsAsText: boolean;
  readonly durationsAsText: boolean;
  /** Whether unset fields are omitted; otherwise they appear with their default or zero. */
  readonly omitsUnset: boolean;
}

type Write = (value: unknown) => Data;
type WriteField = (message: Message, data: DataObject) => void;
type WriteMessage = (message: Message) => Data;

/** Converts messages of one catalog to data, with fixed options. Each type is analyzed once. */
export class DataWriter {
  readonly #options: ToDataOptions;
  readonly #registry: GrpcCatalog['registry'];
  readonly #writers = new Map<DescMessage, WriteMessage>();

  constructor(registry: GrpcCatalog['registry'], options: ToDataOptions) {
    this.#registry = registry;
    this.#options = options;
  }

  /** The writer for a message type; a well-known type may produce something other than an object. */
  writer(type: DescMessage): WriteMessage {
    let writer = this.#writers.get(type);
    if (!writer) {
      const fields: WriteField[] = [];
      writer = this.#wellKnown(type) ?? ((message) => writeAll(fields, message));
      this.#writers.set(type, writer);
      // The writer is registered before the writers of its fields are created, because types can be recursive.
      for (const field of type.fields) fields.push(this.#field(field));
    }
    return writer;
  }

  #wellKnown(type: DescMessage): WriteMessage | undefined {
    switch (type.typeName) {
      case 'google.protobuf.Timestamp':
        return this.#options.timestampsAsText ? (message) => formatTimestamp(message) : undefined;
      case 'google.protobuf.Duration':
        return this.#options.durationsAsText ? (message) => formatDuration(message) : undefined;
      case 'google.protobuf.Any':
        return (message) => this.#any(type, message);
      case 'google.protobuf.Struct':
      case 'google.protobuf.Value':
      case 'google.protobuf.ListValue':
      case 'google.protobuf.FieldMask':
        return (message) => toJson(type, message as never) as Data;
    }
    const value = wrapped(type);
    if (!value) return undefined;
    const write = this.#scalar(value.scalar);
    return (message) => write(message[value.localName]);
  }

  /** A message of an unknown type stays encoded. */
  #any(type: DescMessage, message: Message): Data {
    try {
      return toJson(type, message as never, { registry: this.#registry, useProtoFieldName: true }) as Data;
    } catch {
      const { typeUrl, value } = message as unknown as { typeUrl: string; value: Uint8Array };
      return { '@type': typeUrl, value: base64Encode(value) };
    }
  }

  #field(field: DescField): WriteField {
    const name = this.#options.names === 'camelCase' ? field.jsonName : field.name;
    const { localName } = field;
    const { omitsUnset } = this.#options;
    if (field.fieldKind === 'list' || field.fieldKind === 'map') {
      const write = field.fieldKind === 'list' ? this.#list(field) : this.#map(field);
      return (message, data) => {
        const value = message[localName] as object;
        if (!omitsUnset || Object.keys(value).length > 0) setKey(data, name, write(value));
      };
    }
    const write = this.#value(field);
    if (field.oneof) {
      const { localName: group } = field.oneof;
      return (message, data) => {
        const { case: chosen, value } = message[group] as { case?: string; value?: unknown };
        if (chosen === localName) setKey(data, name, write(value));
      };
    }
    const unset = field.fieldKind === 'message' ? null : write(defaultOf(field));
    const isImplicit = field.presence === IMPLICIT;
    return (message, data) => {
      const value = message[localName];
      const isSet = isImplicit ? !isZero(value) : value !== undefined && Object.hasOwn(message, localName);
      if (isSet) setKey(data, name, write(value));
      else if (!omitsUnset) setKey(data, name, unset);
    };
  }

  #value(field: DescField & { fieldKind: 'scalar' | 'enum' | 'message' }): Write {
    if (field.fieldKind === 'scalar') return this.#scalar(field.scalar);
    if (field.fieldKind === 'enum') return this.#enum(field.enum);
    // Fields of wrapper types contain the wrapped value.
    const value = field.oneof ? undefined : wrapped(field.message);
    if (value) return this.#scalar(value.scalar);
    if (isStruct(field)) return (held) => held as Data;
    return this.#message(field.message);
  }

  #message(type: DescMessage): Write {
    let write: WriteMessage | null = null;
    return (value) => {
      write ??= this.writer(type);
      return write(value as Message);
    };
  }

  #list(field: DescField & { fieldKind: 'list' }): Write {
    const write = this.#item(field.listKind, field);
    return (value) => (value as unknown[]).map(write);
  }

  #map(field: DescField & { fieldKind: 'map' }): Write {
    const write = this.#item(field.mapKind, field);
    return (value) => {
      const data: DataObject = {};
      for (const [key, item] of Object.entries(value as object)) setKey(data, key, write(item));
      return data;
    };
  }

  #item(kind: 'scalar' | 'enum' | 'message', field: DescField): Write {
    if (kind === 'scalar') return this.#scalar(field.scalar!);
    if (kind === 'enum') return this.#enum(field.enum!);
    return isStruct(field) ? (held) => held as Data : this.#message(field.message!);
  }

  #enum(type: DescEnum): Write {
    if (type.typeName === 'google.protobuf.NullValue') return () => null;
    if (!this.#options.enumsAsText) return (value) => value as number;
    return (value) => type.value[value as number]?.name ?? (value as number);
  }

  #scalar(type: ScalarType): Write {
    switch (type) {
      case ScalarType.DOUBLE:
      case ScalarType.FLOAT:
        return (value) => (Number.isFinite(value) ? (value as number) : String(value));
      case ScalarType.BYTES:
        return (value) => base64Encode(value as Uint8Array);
      default:
        return (value) => (typeof value === 'bigint' ? exact(value) : (value as Data));
    }
  }
}

/** Code for fields of proto3 without explicit presence: they count as set if their value is not zero. */
const IMPLICIT = 2;

function writeAll(fields: readonly WriteField[], message: Message): DataObject {
  const data: DataObject = {};
  for (const write of fields) write(message, data);
  return data;
}

/** A number if JavaScript can represent it exactly, otherwise its digits as a string. */
function exact(value: bigint): number | string {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : String(value);
}

function isZero(value: unknown): boolean {
  if (value instanceof Uint8Array) return value.length === 0;
  // Negative zero counts as a value other than zero, so that it is not omitted.
  return value === '' || value === false || value === 0n || Object.is(value, 0);
}

function defaultOf(field: DescField & { fieldKind: 'scalar' | 'enum' }): unknown {
  const written = field.getDefaultValue();
  if (written !== undefined) return written;
  if (field.fieldKind === 'enum') return field.enum.values[0]!.number;
  switch (field.scalar) {
    case ScalarType.STRING:
      return '';
    case ScalarType.BOOL:
      return false;
    case ScalarType.BYTES:
      return new Uint8Array();
    default:
      return 0;
  }
}

/** The only field of a wrapper such as `google.protobuf.StringValue`; undefined for any other type. */
export function wrapped({ typeName, fields }: DescMessage): (DescField & { fieldKind: 'scalar' }) | undefined {
  const isWrapper = /^google\.protobuf\.(?:(?:U?Int(?:32|64)|Bool|String|Bytes|Double|Float)Value)$/.test(typeName);
  const [value] = fields;
  return isWrapper && value?.fieldKind === 'scalar' ? value : undefined;
}

/** Whether the field contains the JSON of a `Struct` instead of a message. */
export function isStruct({ message, parent }: DescField): boolean {
  return message?.typeName === 'google.protobuf.Struct' && parent.typeName !== 'google.protobuf.Value';
}
