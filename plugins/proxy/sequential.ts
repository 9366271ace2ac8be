import {
  type Call,
  discard,
  type Gather,
  getPath,
  gunzipBody,
  type Log,
  type Params,
  type PipeRequest,
  type Reply,
  type Step,
  textOf,
} from '#contract';
import { asFailed, attempt, gathered, inTime, isWhole } from './attempt.ts';
import type { Combine } from './combiner.ts';

/** A value from a backend's response that later backends receive as a parameter. */
export interface Propagated {
  /** Parameter name, as in `Resp0_user.id`. */
  readonly key: string;
  /** Path of the value in the data; null for the whole body. */
  readonly path: readonly string[] | null;
}

/** Properties of one backend in a sequence of calls. */
export interface Link {
  /** True when the backend's response is passed through unread, so that any response counts as complete. */
  readonly raw: boolean;
  readonly propagated: readonly Propagated[];
}

export interface SequentialOptions {
  /** Maximum duration of the whole chain, in milliseconds. */
  readonly budgetMs: number;
  /** One entry per backend, in order. */
  readonly links: readonly Link[];
  readonly combine: Combine;
  /** True when a failing backend does not end the chain. */
  readonly ignoresErrors: boolean;
}

/** Maximum length of a body that is read to be propagated as a whole, in bytes. */
const BODY_LIMIT_BYTES = 64 * 1024 * 1024;

/**
 * Calls backends one after another, each with a copy of the request that contains the earlier replies. The first failed
 * or incomplete reply ends the chain: it is returned alone if it is the first one, otherwise the result is what was
 * gathered so far, incomplete. Replies are merged only at the end, so that later backends read them unchanged.
 */
export function sequential(options: SequentialOptions): Gather {
  return {
    name: 'sequential',
    sequential: true,
    over: (backends) => {
      if (backends.length === 1) return backends[0]!;
      return (request, call) => {
        const chain = call.fork(options.budgetMs);
        return follow(backends, request, chain, options).finally(() => chain.finish());
      };
    },
  };
}

async function follow(
  backends: readonly Step<PipeRequest>[],
  request: PipeRequest,
  chain: Call,
  { links, combine, ignoresErrors }: SequentialOptions,
): Promise<Reply> {
  const replies: Reply[] = [];
  const offered: Params = {};
  let isComplete = true;
  for (const [at, { raw, propagated }] of links.entries()) {
    const own = request.copy();
    own.earlier = replies;
    Object.assign(own.params, offered);
    let reply = await inTime(attempt(backends[at]!, own, chain), chain);
    if (raw && reply.errors.length === 0) reply = await inTime(readBody(reply, propagated), chain);
    replies.push(reply);
    if (!isWhole(reply, raw)) {
      if (!ignoresErrors) return at === 0 ? reply : gathered(replies, false, combine);
      isComplete = false;
    }
    for (const value of propagated) offered[value.key] = textFrom(reply, value, chain.log);
  }
  return gathered(replies, isComplete, combine);
}

/** Reads a body to be propagated; other bodies are not awaited. */
function readBody(reply: Reply, propagated: readonly Propagated[]): Reply | Promise<Reply> {
  const { body } = reply;
  if (body === null) return reply;
  if (propagated.length === 0) {
    discard(body);
    reply.body = null;
    return reply;
  }
  if (body instanceof Uint8Array) return keepBytes(reply, body);
  const bytes = body.collect(BODY_LIMIT_BYTES);
  return bytes instanceof Promise ? bytes.then((all) => keepBytes(reply, all), asFailed) : keepBytes(reply, bytes);
}

/** The backend may have responded in gzip if the client specified the encodings it accepts. */
function keepBytes(reply: Reply, bytes: Uint8Array): Reply | Promise<Reply> {
  const plain = gunzipBody(bytes, reply.headers, BODY_LIMIT_BYTES);
  const keep = (body: Uint8Array): Reply => {
    reply.body = body;
    return reply;
  };
  return plain instanceof Promise ? plain.then(keep, asFailed) : keep(plain);
}

function textFrom(reply: Reply, { key, path }: Propagated, log: Log): string {
  if (path === null) return reply.body instanceof Uint8Array ? Buffer.from(reply.body).toString() : '';
  const value = reply.data ? getPath(reply.data, path) : undefined;
  if (value !== undefined) return textOf(value);
  if (!reply.skipped) log.warning(`[Merge] no field ${path.join('.')} in the response: ${key} is empty`);
  return '';
}
