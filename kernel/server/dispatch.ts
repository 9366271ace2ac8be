import { CallError, type ClientRequest, defineSlot, type Params, Reply, type Step, toCallError } from '#contract';
import { settledReply } from '../pipeline/settle.ts';
import { finishAfter } from '../pipeline/with-timeout.ts';
import type { Destinations } from './destinations.ts';
import type { FallbackReplies } from './fallback-replies.ts';

/** How many endpoints one call may go through. */
const MAX_ENDPOINTS = 8;

const passedSlot = defineSlot<number>('endpoints passed');

/**
 * Answers requests that components make: by the endpoint that a client's request would come to, with everything that
 * stands around it, under its own deadline and never longer than the call.
 */
export function componentDispatch(destinations: Destinations, fallbacks: FallbackReplies): Step<ClientRequest> {
  return (request, call) => {
    const passed = call.get(passedSlot) ?? 1;
    if (passed >= MAX_ENDPOINTS) return Reply.failed(tooMany());
    const destination = destinations.find(request.method, request.path, request.host);
    const inner = call.with(passedSlot, passed + 1);
    if (destination.kind === 'own') return settledReply(destination.route.handle, request, inner);
    if (destination.kind !== 'route') {
      return fallbacks.of(destination, request.method, request.search, undefined);
    }
    const { route, params } = destination;
    (request as { params: Params }).params = params;
    try {
      request.body?.restrict(route.maxPayloadBytes);
    } catch (error) {
      return Reply.failed(toCallError(error));
    }
    const own = inner.fork();
    own.enter(route.log, route.endpoint.timeout);
    const startedAt = performance.now();
    // What components ask for counts as what clients ask for.
    const count = (reply: Reply): Reply => {
      route.traffic.record(performance.now() - startedAt, reply.status, reply.complete === null);
      return reply;
    };
    const reply = route.handle(request, own);
    return finishAfter(own, reply instanceof Promise ? reply.then(count) : count(reply));
  };
}

function tooMany(): CallError {
  return new CallError(
    'DISPATCH_LOOP',
    `the call went through ${MAX_ENDPOINTS} endpoints: endpoints call one another`,
    {
      view: { status: 508 },
    },
  );
}
