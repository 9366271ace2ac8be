import {
  atBackend,
  definePlugin,
  type HttpSigner,
  httpSigners,
  type PipeRequest,
  type Plugin,
  type Step,
} from '#contract';

/** Stands in for HTTP: whatever is called is signed and answered by `next`. */
export function testHttp(next: Step<PipeRequest>): Plugin {
  return definePlugin({
    name: 'test/http',
    description: 'Answers in the place of backends.',
    takes: [httpSigners],
    http: (site) => signing(site.takeAll(httpSigners), next),
    places: [
      atBackend({ type: 'object', properties: {} }, (site) => ({
        protocol: { call: signing(site.takeAll(httpSigners), next) },
      })),
    ],
  });
}

/** A step that signs as the gateway's HTTP client does, once, before `next` sees the request. */
export function signing(signers: readonly HttpSigner[], next: Step<PipeRequest>): Step<PipeRequest> {
  if (signers.length === 0) return next;
  return async (request, call) => {
    const { method, target, headers } = request;
    const origin = request.origin || 'http://backend.test';
    const body = signers.some(({ readsBody }) => readsBody) ? ((await request.body?.bytes()) ?? null) : null;
    const attempt = { method, origin, target, headers: headers.copy(), body, redirects: 0 };
    for (const signer of signers) await signer.sign(attempt, call);
    request.headers = attempt.headers;
    return next(request, call);
  };
}
