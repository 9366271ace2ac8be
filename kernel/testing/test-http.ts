import {
  atBackend,
  type ConnectionObserver,
  connectionObservers,
  definePlugin,
  type HttpSigner,
  httpSigners,
  type Offer,
  type PipeRequest,
  type Plugin,
  Reply,
  type Step,
  toCallError,
} from '#contract';

/** Replaces HTTP: every call is signed, seen by observers, and handled by `next`. */
export function testHttp(next: Step<PipeRequest>): Plugin {
  const open: Plugin['http'] = (site) => calling(site.takeAll(httpSigners), site.takeAll(connectionObservers), next);
  return definePlugin({
    name: 'test/http',
    description: 'HTTP client that returns test responses instead of calling backends.',
    takes: [httpSigners, connectionObservers],
    http: open,
    places: [
      atBackend({ type: 'object', properties: {} }, (site) => ({ protocol: { call: open(site as never, {}) } })),
    ],
  });
}

/** Wraps `next` so that a plugin under test calls it as the gateway's HTTP client would: with the signers and observers that are offered to the plugin. */
export function calledOverHttp(offers: readonly Offer[] = [], next: Step<PipeRequest>): Step<PipeRequest> {
  const offered = (name: string) => offers.filter(({ port }) => port.name === name).map(({ value }) => value);
  return calling(
    offered(httpSigners.name) as HttpSigner[],
    offered(connectionObservers.name) as ConnectionObserver[],
    next,
  );
}

/** Signs and notifies observers as the gateway's HTTP client does, once, for a connection that took no time to open. */
function calling(
  signers: readonly HttpSigner[],
  observers: readonly ConnectionObserver[],
  next: Step<PipeRequest>,
): Step<PipeRequest> {
  if (signers.length + observers.length === 0) return next;
  return async (request, call) => {
    const { method, target, headers } = request;
    const origin = request.origin || 'http://backend.test';
    const body = signers.some(({ readsBody }) => readsBody) ? ((await request.body?.bytes()) ?? null) : null;
    const host = request.host ?? new URL(origin).host;
    const attempt = { method, origin, target, host, headers: headers.copy(), body, redirects: 0 };
    try {
      for (const signer of signers) await signer.sign(attempt, call);
    } catch (error) {
      return Reply.failed(toCallError(error));
    }
    request.headers = attempt.headers;
    const opened = { dnsMs: 0, connectMs: 0, tlsMs: 0 };
    for (const observer of observers) observer.connected({ origin, waitMs: 0, reused: false, opened }, request, call);
    const reply = await next(request, call);
    for (const observer of observers) observer.responded?.(0, request, call);
    return reply;
  };
}
