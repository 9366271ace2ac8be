import { requestIdSlot, type Site } from '#contract';
import { Caller } from '../../clients/grpc/caller.ts';
import { addressOf } from '../../clients/grpc/channels.ts';
import { openChannels } from '../../clients/grpc/open-channels.ts';
import { type PreparedTls, prepareSharedTls, standardTls } from '../../clients/tls/client-tls.ts';
import { frameOf } from '../../engines/grpc/frames.ts';
import { DEADLINE_EXCEEDED, GrpcError, UNAVAILABLE } from '../../engines/grpc/status.ts';
import { Undecided } from '../lib/undecided.ts';
import { encodeCheck } from './check-request.ts';
import { decodeDecision } from './check-response.ts';
import { headerSelector } from './client-headers.ts';
import type { Decide } from './decision.ts';
import type { ExternalConfig } from './schema.ts';

const PATH = '/envoy.service.auth.v3.Authorization/Check';
/** Maximum size of a response, in bytes. */
const MAX_MESSAGE_BYTES = 256 * 1024;
const IDLE_MS = 600_000;

/** Asks a server over gRPC, as Envoy's ext_authz filter does. @throws ConfigError `EXTERNAL_URL`. */
export function grpcDecider(site: Site<ExternalConfig>, isSecure: boolean): Decide {
  const { url, request_headers, forward_body, context_extensions: extensions } = site.config;
  const origin = url.replace(/\/$/, '');
  const address = addressOf(origin, isSecure);
  if (!address) {
    throw site.fault('EXTERNAL_URL', '/url', `${url} is not a valid gRPC server address`, {
      hint: 'use grpc://name:port, without a path',
    });
  }
  const tls = isSecure ? tlsOf(site) : null;
  const client = tls?.client;
  const { host, port } = address;
  site.connectsTo({ address: host, port, tls: client && (() => ({ ...client, ALPNProtocols: ['h2'] })) }, '/url');
  const channels = openChannels(site, tls);
  const caller = new Caller(
    { channels, path: PATH, maxBytes: MAX_MESSAGE_BYTES, idleMs: IDLE_MS, usesOthers: false },
    [],
  );
  const select = headerSelector(request_headers, forward_body);
  return async (request, body, call) => {
    const requestId = call.get(requestIdSlot) ?? '';
    const check = encodeCheck({ request, headers: select(request), body, requestId, extensions });
    try {
      return decodeDecision(await caller.unary(origin, {}, frameOf(check), call));
    } catch (error) {
      if (call.reason) throw call.reason;
      const isOutage =
        error instanceof GrpcError && (error.status === UNAVAILABLE || error.status === DEADLINE_EXCEEDED);
      throw new Undecided((error as Error).message, isOutage);
    }
  };
}

/** Returns the TLS settings of the service for its clients; without them, TLS with the system trust store. */
function tlsOf(site: Site<unknown>): PreparedTls {
  const shared = site.setting('client_tls');
  return shared ? prepareSharedTls(site, shared) : { client: standardTls(), paths: [], fingerprint: '' };
}
