import { type Call, type ClientRequest, type PipeTraits, Reply, type Wrap } from '#contract';
import type { DescMethod } from '../../engines/grpc/catalog.ts';
import { passThroughSlot } from '../../engines/grpc/pass-through.ts';
import { DEADLINE_EXCEEDED, INTERNAL, UNIMPLEMENTED } from '../../engines/grpc/status.ts';
import { parseTimeout } from '../../engines/grpc/timeout.ts';
import type { Messages } from './messages.ts';
import { isKnownCoding, readMessage } from './request-message.ts';
import { failureReply, genericMessage, messageReply, statusReply, type Wording } from './status-reply.ts';

/** A published method. */
export interface PublishedMethod {
  readonly method: DescMethod;
  readonly messages: Messages;
  /** Whether the only backend uses gRPC with the same messages, and no other component modifies the response. */
  readonly passes: boolean;
  /** Whether the method has more than one backend. */
  readonly several: boolean;
  /** Maximum length of a client's message, in bytes. */
  readonly maxBytes: number;
  readonly wording: Wording;
}

/**
 * The client side: handles deadlines and converts every failure to a gRPC status. Outermost, so that rejections of the
 * call become such a status too.
 */
export function speaking({ wording, several }: PublishedMethod): Wrap<ClientRequest> {
  return (next) => async (request, call) => {
    const refusal = refused(request, call, wording);
    if (refusal) return refusal;
    const reply = await next(request, call);
    return reply.outcome === null ? failureReply(reply, several, wording) : reply;
  };
}

/** Checks a call before its message is read; null when it is valid. */
function refused({ method, headers }: ClientRequest, call: Call, wording: Wording): Reply | null {
  if (!takesType(headers.get('content-type') ?? '')) return new Reply(415);
  if (method !== 'POST') return new Reply(405);
  if (!isKnownCoding(headers.get('grpc-encoding'))) {
    const reply = statusReply(UNIMPLEMENTED, 'only gzip compression is supported', wording);
    reply.headers.append('grpc-accept-encoding', 'identity,gzip');
    return reply;
  }
  const timeout = headers.get('grpc-timeout');
  if (timeout === undefined) return null;
  const ms = parseTimeout(timeout);
  if (ms === null) return statusReply(INTERNAL, 'grpc-timeout is not a valid duration', wording);
  if (ms === 0) return statusReply(DEADLINE_EXCEEDED, genericMessage(DEADLINE_EXCEEDED), wording);
  call.limit(ms);
  return null;
}

function takesType(type: string): boolean {
  return /^application\/grpc(?:\+proto)?\s*(?:;|$)/i.test(type);
}

/**
 * The pipe side: creates its request from the client's message, and a message from its reply. Placed inside credentials
 * and limits, so that messages of unauthorized clients are not read.
 */
export function translating(published: PublishedMethod, { readsData }: PipeTraits): Wrap<ClientRequest> {
  const { method, messages, maxBytes, wording } = published;
  const { input, output } = method;
  const passes = published.passes && !readsData;
  return (next) => async (request, call) => {
    const bytes = await readMessage(request, maxBytes);
    const message = messages.decode(bytes);
    const passing = passes ? { input, output, request: bytes, response: null as Uint8Array | null } : null;
    if (passing) call.set(passThroughSlot, passing);
    const reply = await next(messages.requestOf(request, message, passes), call);
    if (reply.failed || reply.complete === null || reply.status >= 300) return reply;
    const encoded = passing?.response ?? messages.encode(reply.data ?? {});
    return messageReply(encoded, request, { complete: reply.complete, wording });
  };
}
