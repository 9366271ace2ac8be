import { fromBinary } from '@bufbuild/protobuf';
import {
  type AtBackend,
  atBackend,
  BackendError,
  type BackendSite,
  type Call,
  CallError,
  type DataObject,
  definePlugin,
  HeaderBag,
  isHeaderName,
  joinPointer,
  type PipeRequest,
  printJson,
  Reply,
  toCallError,
} from '#contract';
import { Caller } from '../../clients/grpc/caller.ts';
import { type DescMethod, grpcCatalog, type Message } from '../../engines/grpc/catalog.ts';
import { frameOf } from '../../engines/grpc/frames.ts';
import { type PassThrough, passThroughSlot } from '../../engines/grpc/pass-through.ts';
import { GrpcError, httpStatusOf, nameOf } from '../../engines/grpc/status.ts';
import { DataWriter } from '../../engines/grpc/to-data.ts';
import { channelsOf } from './dial-settings.ts';
import { isKey, keyOf, metadataOf } from './metadata.ts';
import { methodAt } from './method.ts';
import { RequestMessages } from './request-message.ts';
import { type Config, schema } from './schema.ts';
import { type MessageFormat, outputOf } from './streams.ts';

/** Default maximum message size, in bytes. */
const DEFAULT_MESSAGE_BYTES = 4 * 1024 * 1024;
/** Maximum total size of a stream's messages that are collected into a list, in bytes. */
const MAX_LIST_BYTES = 64 * 1024 * 1024;

/**
 * Calls methods of gRPC servers: unary and server-streaming ones.
 *
 * Configuration faults: `GRPC_CATALOG`, `GRPC_METHOD`, `GRPC_OUTPUT`, `GRPC_HOST`, `GRPC_METADATA`, those of
 * `prepareTls`; warnings `GRPC_FIELD`, `GRPC_PLAINTEXT`. Call errors: `GRPC_STATUS`, `GRPC_VALUE`, `GRPC_BODY`,
 * `GRPC_MESSAGE`.
 */
export const plugin = definePlugin({
  name: 'backend/grpc',
  description: 'Calls a method of a gRPC server.',
  takes: [grpcCatalog],
  schemes: { grpc: 'http', grpcs: 'https' },
  places: [atBackend(schema, attach)],
});

function attach(site: BackendSite<Config>): AtBackend {
  const { config, backend } = site;
  const named = methodAt(site);
  if (!named) return { protocol: { call: () => Reply.failed(new BackendError('GRPC_CATALOG', 'is never called')) } };
  const { method, catalog } = named;
  const output = outputOf(site, method);
  const messages = new RequestMessages(catalog.registry, method.input, config);
  for (const name of messages.unmapped) {
    const at = joinPointer('/input_mapping', name);
    site.warn('GRPC_FIELD', at, `${method.input.typeName} has no field ${config.input_mapping[name]}`);
  }
  const writer = new DataWriter(catalog.registry, {
    names: config.response_naming_convention,
    enumsAsText: config.output_enum_as_string,
    timestampsAsText: config.output_timestamp_as_string,
    durationsAsText: config.output_duration_as_string,
    omitsUnset: config.output_remove_unset_values,
  });
  const caller = new Caller(
    {
      channels: channelsOf(site),
      path: backend.url_pattern,
      maxBytes: config.max_call_recv_msg_size || DEFAULT_MESSAGE_BYTES,
      idleMs: config.idle_conn_disconnect_time,
      usesOthers: config.use_alternate_host_on_error,
    },
    backend.sd === 'static' ? backend.host.filter((host) => !host.includes('{')) : [],
  );
  const write = writer.writer(method.output);
  const read = (bytes: Uint8Array): DataObject => asObject(write(decode(method, bytes)));
  const renamed = renaming(site);
  const failed = failing(site);
  const given: Given = { method, messages, caller, read, renamed };
  const respond = method.methodKind === 'unary' ? unary : output ? streaming(output) : listing;
  return {
    protocol: {
      replies: 'data',
      ...(output && { streams: true }),
      call: (request, call) => respond(given, request, call).catch((error) => failed(error, call)),
    },
  };
}

/** Values shared by all calls to a backend. */
interface Given {
  readonly method: DescMethod;
  readonly messages: RequestMessages;
  readonly caller: Caller;
  readonly read: (bytes: Uint8Array) => DataObject;
  readonly renamed: ReadonlyMap<string, string>;
}

type Respond = (given: Given, request: PipeRequest, call: Call) => Promise<Reply>;

const unary: Respond = async ({ method, messages, caller, read, renamed }, request, call) => {
  const passing = passThrough(call, method);
  const message = passing?.request ?? (await messages.encode(request));
  const metadata = metadataOf(request.headers, renamed);
  const bytes = await caller.unary(request.origin, metadata, frameOf(message), call);
  if (!passing) return Reply.data(read(bytes));
  passing.response = bytes;
  return Reply.data({});
};

/** Returns the call from a client of the gateway's gRPC server if its messages have the same types, so that their bytes pass unchanged. */
function passThrough(call: Call, { input, output }: DescMethod): PassThrough | undefined {
  const passing = call.get(passThroughSlot);
  return passing?.input === input && passing.output === output ? passing : undefined;
}

/** Collects all messages of a stream into one list. */
const listing: Respond = async ({ messages, caller, read, renamed }, request, call) => {
  const message = frameOf(await messages.encode(request));
  const metadata = metadataOf(request.headers, renamed);
  const collection: DataObject[] = [];
  let size = 0;
  const body = await caller.stream(request.origin, metadata, message, call, (bytes) => {
    size += bytes.length;
    if (size > MAX_LIST_BYTES) {
      throw new BackendError('GRPC_MESSAGE', `the messages of the stream exceed ${MAX_LIST_BYTES} bytes`);
    }
    collection.push(read(bytes));
    return nothing;
  });
  await body.collect(0);
  return Reply.data({ collection });
};

const nothing = new Uint8Array();

/** Streams messages as they arrive, in the endpoint's output encoding. */
function streaming({ contentType, write }: MessageFormat): Respond {
  return async ({ messages, caller, read, renamed }, request, call) => {
    const message = frameOf(await messages.encode(request));
    const metadata = metadataOf(request.headers, renamed);
    const each = (bytes: Uint8Array) => write(printJson(read(bytes)));
    const body = await caller.stream(request.origin, metadata, message, call, each);
    return Reply.raw(200, new HeaderBag(['Content-Type', contentType]), body);
  };
}

function decode({ output }: DescMethod, bytes: Uint8Array): Message {
  try {
    return fromBinary(output, bytes, { readUnknownFields: false }) as unknown as Message;
  } catch (cause) {
    const message = `the response is not a valid ${output.typeName}: ${(cause as Error).message}`;
    throw new BackendError('GRPC_MESSAGE', message, { cause });
  }
}

/** Wraps values that are not objects, which well-known types can produce. */
function asObject(data: ReturnType<ReturnType<DataWriter['writer']>>): DataObject {
  if (Array.isArray(data)) return { collection: data };
  return typeof data === 'object' && data !== null && !JSON.isRawJSON(data) ? data : { content: data };
}

/** Returns the metadata keys of renamed headers, by lowercase header name. */
function renaming(site: BackendSite<Config>): Map<string, string> {
  const renamed = new Map<string, string>();
  for (const [name, key] of Object.entries(site.config.header_mapping)) {
    if (!isHeaderName(name) || !isKey(key)) {
      throw site.fault(
        'GRPC_METADATA',
        joinPointer('/header_mapping', name),
        `"${key}" is not a valid metadata key for ${name}`,
        {
          hint: 'use letters, digits, "_", "-" and "."; names of HTTP such as content-type and te are not allowed',
        },
      );
    }
    renamed.set(name.toLowerCase(), keyOf(key));
  }
  return renamed;
}

/** Converts a failure to a reply. If `backend/http` is to report it, it becomes an HTTP status. */
function failing({ backend, log }: BackendSite<Config>): (error: unknown, call: Call) => Reply {
  const isReported = Object.hasOwn(backend.extra_config, 'backend/http');
  return (error, call) => {
    if (call.reason instanceof CallError) return Reply.failed(call.reason);
    if (!(error instanceof GrpcError)) return Reply.failed(toCallError(error));
    const { status: code, detail } = error;
    log.warning(`[gRPC] ${nameOf(code)}: ${detail}`);
    if (!isReported) return Reply.failed(error);
    const body = Buffer.from(JSON.stringify({ code, status: nameOf(code), message: detail }));
    return Reply.raw(httpStatusOf(code), new HeaderBag(['Content-Type', 'application/json']), body);
  };
}
