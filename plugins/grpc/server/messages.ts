import { Readable } from 'node:stream';
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  type ClientRequest,
  type Data,
  type DataObject,
  getPath,
  isObject,
  type Params,
  paramKey,
  printJson,
  RequestBody,
  textOf,
} from '#contract';
import type { DescMessage, DescMethod, GrpcCatalog, Message } from '../../engines/grpc/catalog.ts';
import { MessageReader } from '../../engines/grpc/from-data.ts';
import { ValueError } from '../../engines/grpc/scalars.ts';
import { INTERNAL, INVALID_ARGUMENT, RESOURCE_EXHAUSTED } from '../../engines/grpc/status.ts';
import { DataWriter } from '../../engines/grpc/to-data.ts';
import { ElementCounter } from './element-count.ts';
import { StatusError } from './status-reply.ts';

/** Decoder and encoder of the messages in one catalog, for all methods. */
export interface Codecs {
  readonly counter: ElementCounter;
  readonly writer: DataWriter;
  readonly reader: MessageReader;
}

/** Creates the codecs. Data has the JSON form of protocol buffers, with the field names of the descriptors; responses may also use JSON names. */
export function codecsOf({ registry }: GrpcCatalog): Codecs {
  const text = { enumsAsText: true, timestampsAsText: true, durationsAsText: true };
  return {
    counter: new ElementCounter(registry),
    writer: new DataWriter(registry, { names: 'snake_case', omitsUnset: true, ...text }),
    reader: new MessageReader(registry, { names: 'both', takesPlainBytes: false }),
  };
}

/** A parameter, and the field from which its value is taken. */
interface FieldParam {
  readonly key: string;
  readonly field: readonly string[];
}

export interface MessagesOptions {
  /** Parameter names by the dotted paths of fields. */
  readonly params: Readonly<Record<string, string>>;
  /** Maximum number of elements in a request; 0 for no limit. */
  readonly maxElements: number;
}

/** Size of the shortest element, in bytes. */
const ELEMENT_BYTES = 2;

/** Messages of one method, and the requests created from them. */
export class Messages {
  readonly #input: DescMessage;
  readonly #output: DescMessage;
  readonly #params: readonly FieldParam[];
  readonly #writer: (message: Message) => Data;
  readonly #reader: MessageReader;
  readonly #counter: ElementCounter;
  readonly #maxElements: number;

  constructor({ input, output }: DescMethod, { writer, reader, counter }: Codecs, options: MessagesOptions) {
    const { params, maxElements } = options;
    this.#counter = counter;
    this.#maxElements = maxElements;
    this.#input = input;
    this.#output = output;
    this.#writer = writer.writer(input);
    this.#reader = reader;
    this.#params = Object.entries(params).map(([path, name]) => ({ key: paramKey(name), field: path.split('.') }));
  }

  /** @throws StatusError INVALID_ARGUMENT, or RESOURCE_EXHAUSTED when the element limit is exceeded. */
  decode(bytes: Uint8Array): Message {
    const limit = this.#maxElements;
    if (limit > 0 && bytes.length > ELEMENT_BYTES * limit && this.#counter.count(this.#input, bytes, limit) > limit) {
      throw new StatusError(RESOURCE_EXHAUSTED, `the message has more than ${limit} elements`);
    }
    try {
      return fromBinary(this.#input, bytes, { readUnknownFields: false }) as unknown as Message;
    } catch (cause) {
      const message = `the message is not a valid ${this.#input.typeName}: ${(cause as Error).message}`;
      throw new StatusError(INVALID_ARGUMENT, message, { cause });
    }
  }

  /** @throws StatusError INTERNAL for data that does not match the message type. */
  encode(data: DataObject): Uint8Array {
    try {
      const message = this.#reader.read(this.#output, contentOf(this.#output, data));
      return toBinary(this.#output, message as never);
    } catch (cause) {
      if (!(cause instanceof ValueError)) throw cause;
      const message = `the response of the backends is not a valid ${this.#output.typeName}: ${cause.message}`;
      throw new StatusError(INTERNAL, message, { isOfClient: false });
    }
  }

  /** @throws StatusError INVALID_ARGUMENT for a message without a JSON form, such as a Value without a kind. */
  #write(message: Message): Data {
    try {
      return this.#writer(message);
    } catch (cause) {
      const message = `the message cannot be converted to JSON: ${(cause as Error).message}`;
      throw new StatusError(INVALID_ARGUMENT, message, { cause });
    }
  }

  /**
   * The pipe's request: a JSON body, and fields as parameters.
   * @param isLazy creates the body only when it is read.
   */
  requestOf(request: ClientRequest, message: Message, isLazy: boolean): ClientRequest {
    const params = this.#params.length > 0 || !isLazy ? this.#write(message) : {};
    const json = () => printJson(isLazy && this.#params.length === 0 ? this.#write(message) : params);
    const headers = request.headers.copy();
    headers.filter((name) => !name.startsWith('grpc-') && name !== 'content-type');
    headers.append('Content-Type', 'application/json');
    const body = isLazy ? RequestBody.stream(lazily(json), undefined) : RequestBody.of(json());
    return request.with({ headers, body, params: this.#paramsOf(params) });
  }

  #paramsOf(data: Data): Params {
    const params: Record<string, string> = Object.create(null);
    for (const { key, field } of this.#params) {
      const value = isObject(data) ? getPath(data, field) : undefined;
      params[key] = value === undefined || value === null ? '' : textOf(value);
    }
    return params;
  }
}

/** A text that is created when it is read. */
function lazily(make: () => string): Readable {
  return new Readable({
    read() {
      try {
        this.push(make());
        this.push(null);
      } catch (error) {
        this.destroy(error as Error);
      }
    },
  });
}

/** Object content for well-known types that are written as a single value. */
function contentOf({ typeName }: DescMessage, data: DataObject): Data {
  if (!typeName.startsWith('google.protobuf.')) return data;
  const [key, ...others] = Object.keys(data);
  return others.length === 0 && (key === 'content' || key === 'collection') ? data[key]! : data;
}
