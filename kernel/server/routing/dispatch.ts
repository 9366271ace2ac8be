import { CallError, type ClientRequest, defineSlot, type Params, Reply, type Step, toCallError } from '#contract';
import { settledReply } from '../../pipeline/steps/settle.ts';
import { finishAfter } from '../../pipeline/steps/with-timeout.ts';
import type { Destinations } from './destinations.ts';
import type { FallbackReplies } from './fallback-replies.ts';

/** Maximum number of endpoints that one call can pass through. */
const MAX_ENDPOINTS = 8;

const passedSlot = defineSlot<number>('endpoints passed');

/**
 * Routes requests that components make: to the endpoint that a client's request would match, with all wraps around it,
 * under its own deadline but never beyond that of the call.
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
    // Requests of components are counted like requests of clients.
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
    `the call went through ${MAX_ENDPOINTS} endpoints: endpoints call one another in a loop`,
    {
      view: { status: 508 },
    },
  );
}
