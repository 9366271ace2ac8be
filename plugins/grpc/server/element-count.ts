import type { DescField, Registry } from '@bufbuild/protobuf';
import { ScalarType } from '@bufbuild/protobuf';
import type { DescMessage } from '../../engines/grpc/catalog.ts';

/** Number of packed numbers that take as long to decode as one other element. */
const PACKED_AN_ELEMENT = 16;

const VARINT = 0;
const FIXED64 = 1;
const DELIMITED = 2;
const FIXED32 = 5;

/** Content of a length-delimited field: a message, numbers of a fixed width (0 for varints), or one value. */
type Content = { readonly type: Shape } | { readonly width: number } | null;

/** Fields of a message by number; map entries are messages too. */
type Shape = () => ReadonlyMap<number, Content>;

/** Counts the elements of messages before they are decoded, which takes a hundred times as long. */
export class ElementCounter {
  readonly #registry: Registry;
  readonly #shapes = new Map<DescMessage, Shape>();

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  /**
   * Number of fields, list items and map entries in the message and all nested messages; 16 packed numbers count as
   * one. Malformed bytes are counted up to the first error.
   * @returns a number above `limit` once it is exceeded.
   */
  count(type: DescMessage, bytes: Uint8Array, limit: number): number {
    const reader = new WireReader(bytes);
    const open: { readonly fields: ReadonlyMap<number, Content>; readonly start: number; readonly end: number }[] = [];
    let elements = 0;
    const enter = (shape: Shape, start: number, end: number): void => {
      open.push({ fields: shape(), start, end });
    };
    enter(this.#shape(type), 0, bytes.length);
    for (let within = open.pop(); within !== undefined; within = open.pop()) {
      const { fields, start, end } = within;
      reader.at = start;
      while (reader.at < end && elements <= limit) {
        const tag = reader.varint();
        elements++;
        const length = reader.lengthOf(tag & 7);
        if (length < 0 || reader.at + length > end) break;
        const content = (tag & 7) === DELIMITED ? fields.get(tag >>> 3) : null;
        if (content && 'type' in content) enter(content.type, reader.at, reader.at + length);
        else if (content) elements += Math.floor(reader.numbers(length, content.width) / PACKED_AN_ELEMENT);
        reader.at += length;
      }
      if (fields === anyFields) this.#enterAny(reader, within, enter);
    }
    return elements;
  }

  /** The value of an `Any` is decoded as the type that it names. */
  #enterAny(
    reader: WireReader,
    { start, end }: { readonly start: number; readonly end: number },
    enter: (shape: Shape, start: number, end: number) => void,
  ): void {
    let held: DescMessage | undefined;
    let value: readonly [start: number, end: number] | null = null;
    reader.at = start;
    while (reader.at < end) {
      const tag = reader.varint();
      const length = reader.lengthOf(tag & 7);
      if (length < 0 || reader.at + length > end) return;
      if (tag === ((1 << 3) | DELIMITED)) held = this.#registry.getMessage(reader.text(length).split('/').at(-1)!);
      if (tag === ((2 << 3) | DELIMITED)) value = [reader.at, reader.at + length];
      reader.at += length;
    }
    if (held && value) enter(this.#shape(held), ...value);
  }

  #shape(type: DescMessage): Shape {
    let shape = this.#shapes.get(type);
    if (!shape) {
      let fields: ReadonlyMap<number, Content> | null = type.typeName === 'google.protobuf.Any' ? anyFields : null;
      shape = () => {
        fields ??= new Map(type.fields.map((field) => [field.number, this.#contentOf(field)]));
        return fields;
      };
      this.#shapes.set(type, shape);
    }
    return shape;
  }

  #contentOf(field: DescField): Content {
    if (field.fieldKind === 'map') {
      const value: Content = field.mapKind === 'message' ? { type: this.#shape(field.message) } : null;
      const entry = new Map([[2, value]]);
      return { type: () => entry };
    }
    if (field.message) return { type: this.#shape(field.message) };
    if (field.fieldKind !== 'list') return null;
    return field.listKind === 'enum' ? { width: 0 } : packedWidth(field.scalar);
  }
}

const anyFields: ReadonlyMap<number, Content> = new Map();

function packedWidth(type: ScalarType | undefined): Content {
  switch (type) {
    case ScalarType.STRING:
    case ScalarType.BYTES:
      return null;
    case ScalarType.DOUBLE:
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
      return { width: 8 };
    case ScalarType.FLOAT:
    case ScalarType.FIXED32:
    case ScalarType.SFIXED32:
      return { width: 4 };
    default:
      return { width: 0 };
  }
}

/** Minimal reader of the wire format, sufficient to skip from field to field. */
class WireReader {
  at = 0;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** The low 32 bits of a varint, which suffice for tags and lengths. */
  varint(): number {
    let value = 0;
    for (let shift = 0; this.at < this.#bytes.length; shift += 7) {
      const byte = this.#bytes[this.at++]!;
      if (shift < 32) value |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    return value >>> 0;
  }

  /** Length of a field's value, in bytes, at the reader's new position; -1 for an invalid wire type. */
  lengthOf(wireType: number): number {
    switch (wireType) {
      case VARINT: {
        const start = this.at;
        this.varint();
        const length = this.at - start;
        this.at = start;
        return length;
      }
      case FIXED64:
        return 8;
      case DELIMITED:
        return this.varint();
      case FIXED32:
        return 4;
      default:
        // A group has no length field, so it is read up to its end tag.
        return wireType === 3 || wireType === 4 ? 0 : -1;
    }
  }

  /** Count of the numbers in the next bytes. */
  numbers(length: number, width: number): number {
    if (width > 0) return length / width;
    let count = 0;
    for (let at = this.at; at < this.at + length; at++) if (this.#bytes[at]! < 0x80) count++;
    return count;
  }

  text(length: number): string {
    return Buffer.from(this.#bytes.buffer, this.#bytes.byteOffset + this.at, length).toString('latin1');
  }
}
