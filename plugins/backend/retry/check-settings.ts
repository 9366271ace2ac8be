import type { BackendSite } from '#contract';
import type { RetryConfig } from './schema.ts';

/** Namespaces of components whose calls cannot be repeated as a whole. */
const others = /^(?:backend\/(?:lambda|amqp\/.+|pubsub\/.+|static-filesystem)|workflow)$/;

/** @throws ConfigError RETRY_PROTOCOL, RETRY_IDEMPOTENT, RETRY_BACKOFF, RETRY_HEDGE, RETRY_NEVER */
export function checkSettings(site: BackendSite<RetryConfig>): void {
  const { config, backend, endpoint, fault } = site;
  const other = Object.keys(backend.extra_config).find((name) => others.test(name));
  if (other !== undefined) {
    const hint = other === 'workflow' ? 'move it to the backends of the workflow' : undefined;
    throw fault('RETRY_PROTOCOL', '', `backend/retry cannot be combined with ${other}`, { hint });
  }
  const isGrpc = Object.hasOwn(backend.extra_config, 'backend/grpc');
  if (isGrpc && !config.non_idempotent) {
    throw fault('RETRY_IDEMPOTENT', '', 'gRPC calls are only retried with "non_idempotent": true', {
      hint: 'add "non_idempotent": true if the method can be called twice',
    });
  }
  const { base, max } = config.backoff;
  if (base < 0 || (max !== undefined && max < base)) {
    throw fault('RETRY_BACKOFF', '/backoff', '"max" must not be less than "base", and "base" must not be negative');
  }
  if (config.hedge_after !== undefined && config.hedge_after <= 0) {
    throw fault('RETRY_HEDGE', '/hedge_after', '"hedge_after" must be greater than 0', {
      hint: '"hedge_after": "100ms"',
    });
  }
  const codes = isGrpc ? config.grpc_codes : config.status_codes;
  if (config.conditions.length === 0 && codes?.length === 0 && config.hedge_after === undefined) {
    throw fault('RETRY_NEVER', '', 'no failure is retried: add conditions or status codes');
  }
  warnOfIdle(site, isGrpc, Math.min(backend.timeout ?? endpoint.timeout, endpoint.timeout));
}

/** Warns of settings without effect. Warning: RETRY_IDLE. */
function warnOfIdle({ config, endpoint, warn }: BackendSite<RetryConfig>, isGrpc: boolean, timeoutMs: number): void {
  const idle = isGrpc ? 'status_codes' : 'grpc_codes';
  if (config[idle] !== undefined) {
    warn('RETRY_IDLE', `/${idle}`, `${idle} has no effect: the backend is ${isGrpc ? 'a' : 'not a'} gRPC backend`);
  }
  if (config.attempt_timeout !== undefined && config.attempt_timeout >= timeoutMs) {
    warn('RETRY_IDLE', '/attempt_timeout', 'attempt_timeout has no effect: it is not shorter than the timeout');
  }
  if (endpoint.concurrent_calls > 1) {
    warn(
      'RETRY_IDLE',
      '',
      `each attempt makes ${endpoint.concurrent_calls} calls: use hedge_after instead of concurrent_calls`,
    );
  }
}
