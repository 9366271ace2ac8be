import { type Conversion, type DataObject, isObject, joinPointer } from '#contract';
import { takeServer } from './named-server.ts';

const SERVER = 'plugin/http-server';
const NAME = 'redis-ratelimit';
const LIMIT = 'qos/ratelimit/service/redis';
const AT = joinPointer('', 'extra_config', SERVER, NAME);
const fields = ['host', 'tokenizer', 'tokenizer_field', 'burst', 'rate', 'period'];

/**
 * Converts KrakenD's `redis-ratelimit` plugin to `qos/ratelimit/service/redis`, with a connection of the
 * same name.
 * Codes: REDIS_RATELIMIT_FORM, CONFIG_NOT_SUPPORTED; a warning CONFIG_OLD_PLUGIN.
 */
export function convertRedisRatelimit(document: DataObject, report: Conversion): void {
  const server = takeServer(document, NAME);
  if (!server) return;
  const { components, settings } = server;
  const limit = limitOf(settings, components, report);
  if (!limit) return;
  const { host, ...rest } = limit;
  const redis = isObject(components['redis']) ? components['redis'] : {};
  const pools = Array.isArray(redis['connection_pools']) ? redis['connection_pools'] : [];
  components['redis'] = { ...redis, connection_pools: [...pools, { name: NAME, address: host! }] };
  components[LIMIT] = { connection_name: NAME, ...rest };
  report.moved('/extra_config', LIMIT, SERVER);
  report.warn('CONFIG_OLD_PLUGIN', AT, `the plugin "${NAME}" is outdated: it was replaced by "${LIMIT}"`, {
    hint: `"${LIMIT}": ${JSON.stringify(components[LIMIT])}, with the connection in "redis"`,
  });
}

/** @returns undefined for invalid settings. */
function limitOf(settings: unknown, components: DataObject, report: Conversion): DataObject | undefined {
  const wrong = (field: string, message: string, code = 'REDIS_RATELIMIT_FORM', hint?: string) => {
    report.error(code, field === '' ? joinPointer('', 'extra_config', SERVER) : joinPointer(AT, field), message, {
      hint,
    });
    return undefined;
  };
  if (!isObject(settings)) return wrong('', `"${NAME}" needs "host", "tokenizer", "burst", "rate" and "period"`);
  const unknown = Object.keys(settings).find((key) => !fields.includes(key) && !/^[@$_#]/.test(key));
  if (unknown !== undefined) return wrong(unknown, `"${NAME}" has no field '${unknown}'`);
  if (components[LIMIT] !== undefined) return wrong('', `"${NAME}" and "${LIMIT}" cannot both limit the service`);
  const { host, tokenizer, tokenizer_field: field, burst, rate, period } = settings;
  for (const [key, value, type] of [
    ['host', host, 'string'],
    ['tokenizer', tokenizer, 'string'],
    ['burst', burst, 'number'],
    ['rate', rate, 'number'],
    ['period', period, 'string'],
  ] as const) {
    if (typeof value !== type) return wrong(key, `"${key}" is not a valid ${type}`);
  }
  if (tokenizer !== 'ip' && tokenizer !== 'header') {
    const hint = 'use "ip", or "header" with a header that identifies clients, for example a propagated claim';
    return wrong(
      'tokenizer',
      `the tokenizer ${JSON.stringify(tokenizer)} is not supported`,
      'CONFIG_NOT_SUPPORTED',
      hint,
    );
  }
  return {
    host: host!,
    client_max_rate: rate!,
    client_capacity: burst!,
    every: period!,
    strategy: tokenizer,
    ...(field !== undefined && { key: field }),
  };
}
