import { hash } from 'node:crypto';
import { type Call, type Infer, refuse, type Schema, type Site } from '#contract';
import { failureField, OnFailure } from '../../clients/redis/on-failure.ts';
import { connectionNamed } from '../../clients/redis/port.ts';
import { bucketArguments, takeTokens } from './bucket-script.ts';
import { allLimited, clientLimited, limitFields, readLimit, refuseFor } from './limit-rules.ts';
import type { Admit, RequestLimit } from './request-limit.ts';

/** Schema of a limit whose counters are in Redis. */
export const redisLimitSchema = {
  type: 'object',
  title: 'Request limit in Redis',
  examples: [
    { connection_name: 'counters', max_rate: 500, client_max_rate: 10, strategy: 'ip', every: '1s' },
    { connection_name: 'counters', max_rate: 500, on_failure_allow: true },
  ],
  properties: {
    connection_name: {
      type: 'string',
      description: 'Name of a connection declared in "redis" at the root.',
      examples: ['counters'],
    },
    connection_pool: {
      type: 'string',
      description: 'Deprecated name of connection_name, which takes precedence.',
      deprecated: true,
    },
    on_failure_allow: failureField,
    ...limitFields,
  },
} as const satisfies Schema;

export type RedisLimitConfig = Infer<typeof redisLimitSchema>;

/** Maximum length of a client's identity, in bytes; longer ones are stored as a digest. */
const MAX_IDENTITY_BYTES = 64;

/**
 * Builds a limit. Counters are shared by all gateways that use the same server and scope.
 * @param scope owner of the counters: the service, or method and path of an endpoint.
 * @param pointer of `config` below the site's own configuration.
 * @returns null when both rates are 0.
 * @throws ConfigError REDIS_CONNECTION and those of `readLimit`.
 */
export function redisLimit(
  site: Site<unknown>,
  config: RedisLimitConfig,
  scope: string,
  pointer = '',
): RequestLimit | null {
  const field = config.connection_name || config.connection_pool === undefined ? 'connection_name' : 'connection_pool';
  const connection = connectionNamed(site, config[field] ?? '', `${pointer}/${field}`);
  const rules = readLimit(site, config, pointer);
  if (!rules) return null;
  const { all, each } = rules;
  const onFailure = new OnFailure(config.on_failure_allow, site.log);
  const place = keyPart(scope);

  const allKey = `sluice:ratelimit:all:${place}`;
  const allArguments = all ? bucketArguments(all, config.every) : [];
  const ask = (keys: readonly string[], args: readonly string[], call: Call) =>
    connection.run(takeTokens, keys, args, call) as Promise<[number, number]>;

  const admitAll: Admit | null =
    all &&
    ((_request, call) =>
      ask([allKey], allArguments, call).then(
        ([at, waitMs]) => (at === 0 ? undefined : refuseFor(waitMs, all, allLimited)),
        onFailure.settle,
      ));
  if (!each) return admitAll && { admit: admitAll, admitAll };

  const { identify } = each;
  const eachArguments = bucketArguments(each, config.every);
  // In a cluster, the two buckets of a request can be on different servers, so they are requested separately.
  const isOneCommand = all && connection.isOneServer;
  const args = isOneCommand ? [...eachArguments, ...allArguments] : eachArguments;
  const admit: Admit = (request, call) => {
    const identity = identify(request);
    if (identity === '') return refuse(429, { error: clientLimited });
    const key = `sluice:ratelimit:client:${place} ${identityPart(identity)}`;
    return ask(isOneCommand ? [key, allKey] : [key], args, call).then(([at, waitMs]) => {
      if (at === 1) return refuseFor(waitMs, each, clientLimited);
      if (at === 2) return refuseFor(waitMs, all!, allLimited);
      return isOneCommand ? undefined : admitAll?.(request, call);
    }, onFailure.settle);
  };
  return { admit, admitAll };
}

/** Escapes braces, whose content would determine the cluster server of all keys, and spaces, which end the scope. */
function keyPart(text: string): string {
  return text.replace(/[%{} ]/g, encodeURIComponent);
}

function identityPart(identity: string): string {
  return Buffer.byteLength(identity) > MAX_IDENTITY_BYTES ? hash('sha256', identity, 'base64url') : keyPart(identity);
}
