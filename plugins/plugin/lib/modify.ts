import {
  before,
  type Call,
  discard,
  type Failure,
  type PipeRequest,
  type Reply,
  type RequestModifier,
  type ResponseModifier,
  type Wrap,
} from '#contract';
import { ContextView } from './context.ts';
import { failedBy, isFailure } from './failure.ts';
import type { Made } from './make.ts';
import { isRequestLike, RequestView, writeRequest } from './request.ts';
import { isResponseLike, ModifiedView, ResponseView, toReply } from './response.ts';
import type { SyncTime } from './sync-time.ts';

/** A modifier of one endpoint or backend, and its time measurement. */
export interface Timed<Handler> {
  readonly made: Made<Handler>;
  readonly time: SyncTime;
}

/** Reads the response modifier that a factory returned, a function or an object; undefined for anything else. */
export function asResponseModifier(given: unknown): ResponseModifier | undefined {
  if (typeof given === 'function') return { modify: given as NonNullable<ResponseModifier['modify']> };
  if (typeof given !== 'object' || given === null) return undefined;
  const { modify, onError } = given as Record<string, unknown>;
  const hooks = [modify, onError].filter((hook) => hook !== undefined);
  return hooks.length > 0 && hooks.every((hook) => typeof hook === 'function')
    ? (given as ResponseModifier)
    : undefined;
}

/** Converts a request modifier to a pipe stage. */
export function modifyingRequest({ made, time }: Timed<RequestModifier>): Wrap<PipeRequest> {
  const { name } = made;
  return before((request, call) => {
    const given = new RequestView(request);
    const write = (result: unknown): void => writeRequest(isRequestLike(result) ? result : given, given, request, call);
    const context = new ContextView(call, request.client);
    try {
      const result = time.run(() => made.handle(given, context));
      if (result instanceof Promise) return result.then(write).catch((error: unknown) => failedBy(error, name));
      return write(result);
    } catch (error) {
      return failedBy(error, name);
    }
  });
}

/** Converts a response modifier to a pipe stage. @param raw whether bodies are passed through undecoded. */
export function modifyingReply(modifier: Timed<ResponseModifier>, raw: boolean): Wrap<PipeRequest> {
  return (next) => (request, call) => {
    const reply = next(request, call);
    return reply instanceof Promise
      ? reply.then((settled) => modifyReply(modifier, raw, settled, request, call))
      : modifyReply(modifier, raw, reply, request, call);
  };
}

async function modifyReply(
  { made, time }: Timed<ResponseModifier>,
  raw: boolean,
  reply: Reply,
  request: PipeRequest,
  call: Call,
): Promise<Reply> {
  const { handle, name } = made;
  const failure = failureOf(reply);
  try {
    const context = new ContextView(call, request.client);
    if (failure) {
      await time.run(() => handle.onError?.(failure, context));
      return reply;
    }
    if (!handle.modify || reply.skipped) return reply;
    const given = new ModifiedView(reply, request, context);
    const pending = time.run(() => handle.modify!(given, context));
    const result = pending instanceof Promise ? await pending : pending;
    const changed = toReply(isResponseLike(result) ? result : given, raw, call);
    if (changed !== reply && changed.body !== reply.body && !ResponseView.fieldOf(given)?.stream) discard(reply.body);
    return changed;
  } catch (error) {
    const failed = answerTo(error, name, reply, call);
    discard(reply.body);
    return failed;
  }
}

/**
 * Converts an error to a reply.
 * @throws HandlerError; `reply` is then kept until the call ends, because it may still become the response.
 */
function answerTo(error: unknown, name: string, reply: Reply, call: Call): Reply {
  try {
    return failedBy(error, name);
  } catch (fault) {
    call.onEnd(() => discard(reply.body));
    throw fault;
  }
}

function failureOf(reply: Reply): Failure | null {
  const [first] = reply.errors;
  if (!first && !isFailure(reply)) return null;
  const message = reply.errors.map((error) => error.message).join('\n');
  return { statusCode: reply.status, message: first ? message : `refused with status ${reply.status}` };
}
