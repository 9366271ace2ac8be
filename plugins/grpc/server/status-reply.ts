import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import {
  BackendError,
  CallError,
  CancelledError,
  type ClientRequest,
  HeaderBag,
  type ProductNames,
  productNames,
  Reply,
  type RouterOptions,
} from '#contract';
import { frameOf } from '../../engines/grpc/frames.ts';
import {
  CANCELLED,
  codeOfHttp,
  DEADLINE_EXCEEDED,
  encodeMessage,
  GrpcError,
  httpStatusOf,
  INTERNAL,
  nameOf,
  OK,
  RESOURCE_EXHAUSTED,
} from '../../engines/grpc/status.ts';

/** Error of a call that ends with a status set by the gateway. Codes: `GRPC_CALL`, or as given. */
export class StatusError extends CallError {
  readonly status: number;
  /** True for a client error, which does not concern the operator. */
  readonly isOfClient: boolean;

  constructor(status: number, message: string, { isOfClient = true, cause }: StatusErrorOptions = {}) {
    super('GRPC_CALL', message, { cause, view: { status: httpStatusOf(status) } });
    this.status = status;
    this.isOfClient = isOfClient;
  }
}

interface StatusErrorOptions {
  readonly isOfClient?: boolean;
  readonly cause?: unknown;
}

/** Settings for the content of status replies. */
export interface Wording {
  /** True when clients receive the details of a failure instead of only its kind. */
  readonly isOpen: boolean;
  readonly names: ProductNames;
}

export function wordingOf(router: RouterOptions, version: string): Wording {
  return {
    isOpen: router.return_error_msg,
    names: productNames(router, version),
  };
}

/** Reply of a successful call: its message, compressed if its request was. */
export function messageReply(
  message: Uint8Array,
  { headers }: ClientRequest,
  { complete, wording }: { readonly complete: boolean; readonly wording: Wording },
): Reply | Promise<Reply> {
  if (message.length < COMPRESSED_FROM_BYTES || headers.get('grpc-encoding') !== 'gzip') {
    return framedReply(frameOf(message), null, complete, wording);
  }
  return gzipped(message).then((packed) => framedReply(frameOf(packed, true), 'gzip', complete, wording));
}

const gzipped = promisify<Uint8Array, Buffer>(gzip);
const COMPRESSED_FROM_BYTES = 1024;

function framedReply(frame: Buffer, coding: string | null, complete: boolean, wording: Wording): Reply {
  const reply = Reply.raw(200, new HeaderBag(['content-type', 'application/grpc']), frame);
  if (coding !== null) reply.headers.append('grpc-encoding', coding);
  reply.complete = complete;
  reply.outcome = 200;
  reply.trailers = trailersOf(OK, '', complete, wording);
  return reply;
}

/** Reply of a failed call. */
export function statusReply(code: number, message: string, wording: Wording, errors: Reply['errors'] = []): Reply {
  const reply = Reply.raw(200, new HeaderBag(['content-type', 'application/grpc']), new Uint8Array());
  reply.outcome = httpStatusOf(code);
  reply.errors = errors;
  // Client errors are not logged here, because the access log contains them.
  reply.complete = errors.some((error) => !(error instanceof StatusError && error.isOfClient)) ? false : null;
  reply.trailers = trailersOf(code, message, reply.complete, wording);
  return reply;
}

/** Maximum length of a message to the client, in characters: clients accept only a few kilobytes of metadata. */
const MAX_MESSAGE = 1024;

function trailersOf(code: number, message: string, complete: boolean | null, { names }: Wording): HeaderBag {
  const trailers = new HeaderBag(['grpc-status', String(code)]);
  if (message !== '') trailers.append('grpc-message', encodeMessage(message.slice(0, MAX_MESSAGE)));
  if (complete !== null) trailers.append(names.completed.toLowerCase(), String(complete));
  trailers.append(names.header.toLowerCase(), names.version);
  return trailers;
}

/**
 * Status of a call without a message: the status of its only backend, if it has one, else INTERNAL.
 * @param several true when the method has more than one backend.
 */
export function failureReply({ errors, status }: Reply, several: boolean, wording: Wording): Reply {
  if (errors.length === 0) {
    const code = codeOfHttp(status) ?? INTERNAL;
    return statusReply(code, genericMessage(code), wording);
  }
  const code = several ? sharedCode(errors) : codeOf(errors[0]!);
  return statusReply(code, messageOf(code, errors, several, wording), wording, errors);
}

/** Several failures determine the call's status only when they share it. */
function sharedCode(errors: Reply['errors']): number {
  const own = errors.find((error) => error instanceof StatusError || isTooLarge(error));
  if (own) return codeOf(own);
  return errors.every(isLate) ? DEADLINE_EXCEEDED : INTERNAL;
}

function codeOf(error: CallError): number {
  if (error instanceof StatusError || error instanceof GrpcError) return error.status;
  if (isLate(error)) return DEADLINE_EXCEEDED;
  if (error instanceof CancelledError) return CANCELLED;
  if (isTooLarge(error)) return RESOURCE_EXHAUSTED;
  const status = error instanceof BackendError ? (error.upstreamStatus ?? error.view.status) : error.view.status;
  return (status === undefined ? undefined : codeOfHttp(status)) ?? INTERNAL;
}

function isLate({ code }: CallError): boolean {
  return code === 'CALL_DEADLINE';
}

function isTooLarge({ code }: CallError): boolean {
  return code === 'PAYLOAD_TOO_LARGE';
}

function messageOf(code: number, errors: Reply['errors'], several: boolean, { isOpen }: Wording): string {
  const [first] = errors;
  if (!several && first instanceof GrpcError && first.isOfServer) return first.detail;
  return isOpen ? errors.map(({ message }) => message).join('\n') : genericMessage(code);
}

/** Generic message of a status code, as in `invalid argument`. */
export function genericMessage(code: number): string {
  return nameOf(code).toLowerCase().replaceAll('_', ' ');
}
