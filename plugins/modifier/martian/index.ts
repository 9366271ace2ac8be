import {
  type AtBackend,
  atBackend,
  type BackendSite,
  CallError,
  definePlugin,
  discard,
  offer,
  type PipeRequest,
  Reply,
  type Wrap,
} from '#contract';
import { personalHeaders } from '../../shared/http-headers/personal.ts';
import { changedReplies } from '../../shared/ports/changed-replies.ts';
import { compileModifier, modifierSchema } from './kinds.ts';
import type { Modifier, Place } from './modifier.ts';

/** Changes the request right before it is sent, and the response before it is decoded. */
export const plugin = definePlugin({
  name: 'modifier/martian',
  description: 'Modifies backend requests and responses with a declarative language.',
  offers: [changedReplies, personalHeaders],
  places: [
    atBackend(modifierSchema, (site): AtBackend => {
      const sets = new Set<string>();
      const personal = new Set<string>();
      const place: Place = {
        fault: (at, message, options) => site.fault('MARTIAN_INVALID', at, message, options),
        warn: (at, message, options) => site.warn('MARTIAN_WITHOUT_EFFECT', at, message, options),
        pattern: (source, at) => site.pattern(source, at),
        inner: () => ({ request: null, response: null }),
        sets: (name) => sets.add(name),
        identifies: (name) => personal.add(name),
      };
      const modifier = compileModifier(site.config, place);
      if (modifier.request === null && modifier.response === null) return idle(site);
      const { response } = modifier;
      return {
        transport: around(modifier),
        sets: [...sets],
        offers: [
          ...(response === null ? [] : [offer(changedReplies, response)]),
          ...(personal.size === 0 ? [] : [offer(personalHeaders, [...personal])]),
        ],
      };
    }),
  ],
});

function idle(site: BackendSite<unknown>): AtBackend {
  site.warn('MARTIAN_WITHOUT_EFFECT', '', 'no modifier applies to requests or responses: check their scopes');
  return {};
}

function around({ request: changeRequest, response: changeReply }: Modifier): Wrap<PipeRequest> {
  return (next) => (request, call) => {
    try {
      changeRequest?.(request);
    } catch (error) {
      return failed(error);
    }
    const reply = next(request, call);
    if (changeReply === null) return reply;
    const change = (received: Reply): Reply => {
      // Failed calls, and data of protocols other than HTTP, are passed unchanged.
      if (received.errors.length > 0 || received.data !== null || received.skipped) return received;
      try {
        changeReply(received, request);
        return settled(received);
      } catch (error) {
        discard(received.body);
        return failed(error);
      }
    };
    return reply instanceof Promise ? reply.then(change) : change(reply);
  };
}

/** Removes the body and the length if the status does not allow a body, because the client would wait for the bytes. */
function settled(reply: Reply): Reply {
  if (reply.status !== 204 && reply.status !== 205 && reply.status !== 304) return reply;
  discard(reply.body);
  reply.body = null;
  reply.trailers = null;
  if (reply.status !== 304) reply.headers.delete('content-length');
  return reply;
}

function failed(error: unknown): Reply {
  if (error instanceof CallError) return Reply.failed(error);
  throw error;
}
