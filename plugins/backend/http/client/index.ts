import {
  atBackend,
  type Call,
  type CallError,
  connectionObservers,
  definePlugin,
  httpSigners,
  type PipeRequest,
  Reply,
  type Step,
} from '#contract';
import { hideClient } from '../../../shared/http-headers/client.ts';
import { exchange } from './exchange.ts';
import { bodyFailure } from './failure.ts';
import type { HttpClient } from './http-client.ts';
import type { Payload } from './payload.ts';
import { httpClient, httpClientSchema } from './settings.ts';

/**
 * Calls a backend over HTTP. Every response is a raw reply, regardless of its status; only a missing or invalid
 * response is a failure (see `failureOf` for the codes).
 */
function httpStep(client: HttpClient): Step<PipeRequest> {
  const { hidesClient } = client;
  return (request, call) => {
    if (hidesClient) hideClient(request.headers);
    if (call.reason) return Reply.failed(call.reason as CallError);
    const { body } = request;
    if (body === null || body.length === 0) return exchange(client, request, call, null);
    if (client.buffersBody) return buffered(client, request, call);
    let payload: Payload;
    try {
      payload = body.take();
    } catch (error) {
      return Reply.failed(error as CallError);
    }
    return exchange(client, request, call, payload);
  };
}

async function buffered(client: HttpClient, request: PipeRequest, call: Call): Promise<Reply> {
  let bytes: Uint8Array;
  try {
    bytes = await request.body!.bytes();
  } catch (error) {
    return Reply.failed((call.reason as CallError | null) ?? bodyFailure(error as Error));
  }
  return call.reason ? Reply.failed(call.reason as CallError) : exchange(client, request, call, bytes);
}

/**
 * The HTTP client for backends. It handles every backend that no other plugin claims, with an empty configuration if
 * the namespace is absent.
 */
export const plugin = definePlugin({
  name: 'backend/http/client',
  description: 'Configures the HTTP client of a backend: TLS, proxy and redirects.',
  leaves: ['requests', 'data'],
  takes: [httpSigners, connectionObservers],
  http: (site, options) => httpStep(httpClient(site, options)),
  places: [
    atBackend(httpClientSchema, (site) => ({
      protocol: {
        call: httpStep(httpClient(site)),
        heedsCall: true,
        shareable: true,
        schemes: ['http', 'https', 'unix'],
      },
    })),
  ],
});
