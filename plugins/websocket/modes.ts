import { createHash } from 'node:crypto';
import type { WebSocket } from 'ws';
import {
  BackendError,
  connectionOwner,
  type EndpointSite,
  HeaderBag,
  type Protocol,
  paramKey,
  productNames,
  Reply,
  runOwned,
  timerMs,
} from '#contract';
import { dial } from './dial.ts';
import { DirectConnection } from './direct.ts';
import { acceptance, subprotocolsOf } from './handshake.ts';
import { Hub, type HubSurroundings } from './hub.ts';
import { measuresOf } from './measures.ts';
import type { WebsocketConfig } from './schema.ts';
import { addressed, atHost, dialSettings, limitsOf, targetOf } from './settings.ts';

type Attaching = EndpointSite<WebsocketConfig>;

/** Opens one backend connection per client, before the client receives the response with status 101. */
export function directProtocol(site: Attaching): Protocol {
  const { config, endpoint } = site;
  const backend = endpoint.backend[0]!;
  const dialing = dialSettings(site);
  const { client, directBackend } = limitsOf(config);
  const settings = {
    client,
    backend: directBackend,
    maxBytes: config.max_message_size,
    maxWaiting: config.message_buffer_size,
    retries: { strategy: config.backoff_strategy, maxRetries: config.max_retries },
    reportsErrors: config.return_error_details,
    measures: measuresOf(site),
    log: logOf(site),
  };
  const { addresses, next } = hostsOf();
  return {
    schemes: ['ws', 'wss'],
    keepsQuery: true,
    addresses,
    async call(request, call) {
      const { headers } = request.client;
      const offered = subprotocolsOf(headers).filter((name) => config.subprotocols.includes(name));
      const target = targetOf(request, offered);
      try {
        const socket = await dial(target, dialing, call.signal);
        // Reconnections offer only the subprotocol that the response to the client names.
        const again = { ...target, subprotocols: socket.protocol === '' ? [] : [socket.protocol] };
        const redial = (signal: AbortSignal) => dial(atHost(again, backend, next()), dialing, signal);
        const connection = new DirectConnection(socket, redial, settings);
        call.onEnd(() => connection.release());
        return Reply.upgraded(connection, acceptance(headers, socket.protocol));
      } catch (error) {
        return Reply.failed(error as BackendError);
      }
    },
  };
}

/**
 * Protocol that uses one WebSocket connection to the backend for all clients. It opens the connection when the
 * configuration starts serving or, if the backend's path contains placeholders, for the first client.
 */
export function sharedProtocol(site: Attaching): Protocol {
  const { config, endpoint } = site;
  const backend = endpoint.backend[0]!;
  const { url_pattern: pattern, host, sd, sd_scheme: scheme } = backend;
  const dialing = { ...dialSettings(site), maxBytes: envelopeBytes(config.max_message_size) };
  const headers = new HeaderBag(['User-Agent', productNames(site.setting('router'), site.use('version')).agent]);
  // The path contains no path parameters of the client, which are sent in the envelopes.
  const path = pattern.replace(/\{[^{}"]+\}/g, '').replace(/[^\x21-\x7e]+/g, encodeURIComponent);
  const { addresses, next } = hostsOf();
  const around: HubSurroundings = {
    dial: async (signal) => {
      const address = next();
      if (address === undefined) throw new BackendError('BACKEND_NO_HOSTS', 'no hosts available');
      let socket: WebSocket | null = null;
      // The connection has an owner of its own, because it outlasts the request of the first client.
      const owner = connectionOwner('backend connection', address, () => socket?.terminate());
      const target = addressed({ host: null, headers, subprotocols: [] }, address, path);
      socket = await runOwned(owner, dial, target, dialing, signal);
      return socket;
    },
    measures: measuresOf(site),
    log: logOf(site),
  };
  const { client, sharedBackend } = limitsOf(config);
  const settings = {
    client,
    backend: sharedBackend,
    maxBytes: config.max_message_size,
    maxWaiting: config.message_buffer_size,
    retries: { strategy: config.backoff_strategy, maxRetries: config.max_retries },
    reportsConnected: config.connect_event,
    reportsDisconnected: config.disconnect_event,
    reportsErrors: config.return_error_details,
  };
  const identity = JSON.stringify([endpoint.endpoint, config, host, sd, scheme ?? null, pattern]);
  const hub = site.keep(
    // The key is hashed, because addresses may contain a password.
    ['hub', createHash('sha256').update(identity).digest('base64')],
    () => new Hub(settings, around),
    (kept) => kept.close(),
  );
  site.start(
    () => {
      hub.use(around);
      if (!pattern.includes('{')) hub.open();
    },
    { in: 'each' },
  );
  const names = [...endpoint.endpoint.matchAll(/\{([^{}]+)\}/g)].map(([, name]) => paramKey(name!));
  return {
    schemes: ['ws', 'wss'],
    keepsQuery: true,
    addresses,
    async call({ client: { path: url, headers: requested, params } }, call) {
      const subprotocol = subprotocolsOf(requested).find((name) => config.subprotocols.includes(name)) ?? '';
      const own = names.map((name) => [name, params[name] ?? ''] as const);
      const member = await inTime(hub.admit(url, own, subprotocol), call.remainingMs * ANSWER_SHARE);
      if (member) return Reply.upgraded(member, acceptance(requested, subprotocol));
      const error = 'the gateway no longer reconnects to the WebSocket backend';
      return Reply.failed(new BackendError('WEBSOCKET_DOWN', error, { view: { status: 502 } }));
    },
  };
}

/** Share of a request's timeout after which it is answered even if the backend is not connected. */
const ANSWER_SHARE = 0.9;

async function inTime<T>(promise: Promise<T>, ms: number): Promise<T | null> {
  if (!Number.isFinite(ms)) return promise;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, timerMs(ms), null);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Maximum size of an envelope without its body, in bytes: address and session. */
const ENVELOPE_BYTES = 65_536;

/** Maximum length of a backend message, whose base64 body may be as long as the longest message that a client may receive. */
function envelopeBytes(maxBytes: number): number {
  return Math.ceil((maxBytes * 4) / 3) + ENVELOPE_BYTES;
}

/** Provides the addresses of the backend once the pipe is compiled. */
function hostsOf(): { addresses: (given: () => string | undefined) => void; next: () => string | undefined } {
  let pick: () => string | undefined = () => undefined;
  return {
    addresses(given) {
      pick = given;
    },
    next: () => pick(),
  };
}

function logOf(site: Attaching) {
  return site.use('log').at(`[SERVICE: Websocket] ${site.endpoint.endpoint}:`);
}
