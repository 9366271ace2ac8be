import { type Compatibility, ConfigError, type Data } from '#contract';
import { OLD_FIELDS, retirementOf } from './old-names.ts';

/**
 * Error for a namespace that KrakenD has but no plugin provides.
 * @param supported the available namespaces.
 * @returns undefined if KrakenD does not have the namespace either.
 */
export function notSupportedYet(
  namespace: string,
  pointer: string,
  supported: readonly string[],
  compatibility: Compatibility,
): ConfigError | undefined {
  const { namespaces, successors } = compatibility;
  const advice = retirementOf(namespace, compatibility);
  if (advice !== undefined) {
    const message = `'${namespace}' is no longer part of KrakenD`;
    return new ConfigError('CONFIG_NOT_SUPPORTED', pointer, message, { hint: advice });
  }
  if (!namespaces.includes(namespace)) return undefined;
  const successor = successors[namespace];
  const isThere = successor !== undefined && supported.includes(successor);
  const hint = isThere ? `the component was replaced by "${successor}"` : supportedRelatives(namespace, supported);
  return new ConfigError('CONFIG_NOT_SUPPORTED', pointer, `'${namespace}' is not supported yet`, { hint });
}

/** Available namespaces that share the longest prefix with an unknown one: those of `qos/ratelimit` for `qos/ratelimit/tiered`. */
export function supportedRelatives(namespace: string, supported: readonly string[]): string | undefined {
  for (let end = namespace.lastIndexOf('/'); end > 0; end = namespace.lastIndexOf('/', end - 1)) {
    const family = namespace.slice(0, end);
    const relatives = supported.filter((name) => name === family || name.startsWith(`${family}/`));
    if (relatives.length > 0) return `supported in ${family}: ${relatives.join(', ')}`;
  }
  return undefined;
}

/** Fields that only KrakenD has, each with the values that are equivalent to omitting it. */
type KnownFields = Readonly<Record<string, readonly Data[]>>;

/** Kinds of closed objects in the core schema. */
export type Kind = 'root' | 'endpoint' | 'backend' | 'router';

/** Fields that only KrakenD has. Consulted only for fields that the schemas do not have. */
const FIELDS: Readonly<Record<Kind, KnownFields>> = {
  root: {
    dns_cache_ttl: ['30s'],
    expect_continue_timeout: ['0s'],
    dialer_timeout: ['0s'],
    dialer_keep_alive: ['15s', '0s'],
    dialer_fallback_delay: ['300ms', '0s'],
    response_header_timeout: ['0s'],
    idle_connection_timeout: ['0s'],
    max_idle_connections_per_host: [250, 0],
    disable_compression: [false],
    disable_keep_alives: [false],
    echo_endpoint: [false],
    read_timeout: ['0s'],
    read_header_timeout: ['0s'],
    write_timeout: ['0s'],
    idle_timeout: ['0s'],
    max_header_bytes: [],
    max_shutdown_wait_time: ['0s'],
  },
  endpoint: { concurrent_calls: [1], cache_ttl: ['0s'] },
  backend: { sd: ['static'], sd_scheme: ['http'], is_collection: [false], target: [''], group: [''], timeout: [] },
  router: { max_multipart_memory: [0], app_engine: [false], auto_options: [false] },
};

/** Kind of the closed kernel object at a pointer. */
export function kindOf(steps: readonly string[]): Kind | undefined {
  if (steps.length === 0) return 'root';
  if (steps[0] === 'extra_config') return steps.length === 2 && steps[1] === 'router' ? 'router' : undefined;
  if (steps[0] !== 'endpoints') return undefined;
  if (steps.length === 2) return 'endpoint';
  return steps.length === 4 && steps[2] === 'backend' ? 'backend' : undefined;
}

/** Fields that only KrakenD has, each with the values that are equivalent to omitting it. */
export function knownFields(kind: Kind): KnownFields {
  return FIELDS[kind];
}

/** Status of a field that the schema of its object does not declare. */
export type FieldStatus = 'unknown' | 'not supported' | 'without effect' | { readonly renamed: string };

/** Classifies a field that the schema of its object does not have, by its meaning in KrakenD. */
export function evaluateField(kind: Kind, key: string, value: unknown): FieldStatus {
  const known = FIELDS[kind];
  if (Object.hasOwn(known, key)) {
    const text = JSON.stringify(value);
    return known[key]!.some((inert) => JSON.stringify(inert) === text) ? 'without effect' : 'not supported';
  }
  return kind !== 'router' && Object.hasOwn(OLD_FIELDS, key) ? { renamed: OLD_FIELDS[key]! } : 'unknown';
}
