import { type Call, discard, type Log, type PipeRequest, type Reply, type Wrap } from '#contract';
import { Context } from './context.ts';
import { failedBy, isFailure } from './failure.ts';
import type { Made } from './make.ts';
import { isRequestLike, PluginRequest, writeRequest } from './request.ts';
import { isResponseLike, ModifiedResponse, PluginResponse, toReply } from './response.ts';
import type { SyncTime } from './sync-time.ts';

/** Changes a request in its place, or gives another one; anything else it gives means nothing. */
export type RequestModifier = (request: PluginRequest, context: Context) => unknown;

/** What has failed, for those who watch failures. */
export interface Failure {
  /** What the client is told. */
  readonly statusCode: number;
  readonly message: string;
}

/** Changes a response in its place, or gives another one; and what sees the failures instead. */
export interface ResponseModifier {
  modify?(response: ModifiedResponse, context: Context): unknown;
  /** The call failed, or a section of it: `modify` is not called. The answer stays as it is. */
  onError?(failure: Failure, context: Context): unknown;
}

/** A modifier of one place, with what measures it. */
export interface Timed<Handler> {
  readonly made: Made<Handler>;
  readonly time: SyncTime;
}

/** A response modifier as its factory gives it, a function or an object; undefined for anything else. */
export function asResponseModifier(given: unknown): ResponseModifier | undefined {
  if (typeof given === 'function') return { modify: given as NonNullable<ResponseModifier['modify']> };
  if (typeof given !== 'object' || given === null) return undefined;
  const { modify, onError } = given as Record<string, unknown>;
  const hooks = [modify, onError].filter((hook) => hook !== undefined);
  return hooks.length > 0 && hooks.every((hook) => typeof hook === 'function')
    ? (given as ResponseModifier)
    : undefined;
}

/** The modifiers of one place, each side in order. */
export interface Modifiers {
  readonly requests: readonly Timed<RequestModifier>[];
  readonly responses: readonly Timed<ResponseModifier>[];
  /** Bytes pass undecoded. */
  readonly raw: boolean;
  readonly log: Log;
}

/** Modifiers as a stage of the pipe. */
export function modifying(modifiers: Modifiers): Wrap<PipeRequest> {
  const { requests, responses } = modifiers;
  return (next) => async (request, call) => {
    const context = new Context(call, request.client);
    if (requests.length > 0) {
      const refusal = await modifyRequest(modifiers, request, call, context);
      if (refusal) return refusal;
    }
    const reply = await next(request, call);
    return responses.length > 0 ? modifyReply(modifiers, reply, request, call, context) : reply;
  };
}

/** @returns what a modifier has refused the request with. */
async function modifyRequest(
  { requests, log }: Modifiers,
  request: PipeRequest,
  call: Call,
  context: Context,
): Promise<Reply | undefined> {
  let given = new PluginRequest(request);
  for (const { made, time } of requests) {
    try {
      const pending = time.run(() => made.handle(given, context));
      const result = pending instanceof Promise ? await pending : pending;
      const chosen = isRequestLike(result) ? result : given;
      writeRequest(chosen, given, request, call);
      if (chosen !== given) given = new PluginRequest(request);
    } catch (error) {
      return failedBy(error, `[PLUGIN: ${made.name}]`, log);
    }
  }
  return undefined;
}

async function modifyReply(
  { responses, raw, log }: Modifiers,
  first: Reply,
  request: PipeRequest,
  call: Call,
  context: Context,
): Promise<Reply> {
  let reply = first;
  const failure = failureOf(reply);
  for (const { made, time } of responses) {
    const { handle } = made;
    try {
      if (failure) {
        await time.run(() => handle.onError?.(failure, context));
        continue;
      }
      if (!handle.modify || reply.skipped) continue;
      const given = new ModifiedResponse(reply, request, context);
      const pending = time.run(() => handle.modify!(given, context));
      const result = pending instanceof Promise ? await pending : pending;
      const changed = toReply(isResponseLike(result) ? result : given, raw, call);
      if (changed !== reply && changed.body !== reply.body && !PluginResponse.fieldOf(given)?.stream)
        discard(reply.body);
      reply = changed;
    } catch (error) {
      discard(reply.body);
      return failedBy(error, `[PLUGIN: ${made.name}]`, log);
    }
  }
  return reply;
}

function failureOf(reply: Reply): Failure | null {
  const [first] = reply.errors;
  if (!first && !isFailure(reply)) return null;
  const message = reply.errors.map((error) => error.message).join('\n');
  return { statusCode: reply.status, message: first ? message : `refused with status ${reply.status}` };
}
