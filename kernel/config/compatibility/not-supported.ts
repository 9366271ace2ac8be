import { type Compatibility, ConfigError, type Data } from '#contract';
import { OLD_FIELDS, retirementOf } from './old-names.ts';

/**
 * For a namespace that no plugin brings: the refusal that names it, when the compatible product has it.
 * @param supported the namespaces that there are.
 * @returns undefined when the name is unknown there too.
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
  const hint = isThere
    ? `it is an old component: "${successor}" took its place`
    : supportedBeside(namespace, supported);
  return new ConfigError('CONFIG_NOT_SUPPORTED', pointer, `'${namespace}' is not supported yet`, { hint });
}

/** The namespaces there are that share most with one that is not: those of `qos/ratelimit` for `qos/ratelimit/tiered`. */
export function supportedBeside(namespace: string, supported: readonly string[]): string | undefined {
  for (let end = namespace.lastIndexOf('/'); end > 0; end = namespace.lastIndexOf('/', end - 1)) {
    const family = namespace.slice(0, end);
    const beside = supported.filter((name) => name === family || name.startsWith(`${family}/`));
    if (beside.length > 0) return `supported in ${family}: ${beside.join(', ')}`;
  }
  return undefined;
}

/** What fields of the compatible product mean when they are absent; the same value written out changes nothing. */
type KnownFields = Readonly<Record<string, readonly Data[]>>;

/** The closed objects of the core. */
export type Kind = 'root' | 'endpoint' | 'backend' | 'router';

/** Fields of the compatible product. Looked at only for those that the schemas do not have. */
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

/** The kind of closed object a pointer leads to, among those of the kernel. */
export function kindOf(steps: readonly string[]): Kind | undefined {
  if (steps.length === 0) return 'root';
  if (steps[0] === 'extra_config') return steps.length === 2 && steps[1] === 'router' ? 'router' : undefined;
  if (steps[0] !== 'endpoints') return undefined;
  if (steps.length === 2) return 'endpoint';
  return steps.length === 4 && steps[2] === 'backend' ? 'backend' : undefined;
}

/** Fields of the compatible product, each with the values that mean the same as its absence. */
export function knownFields(kind: Kind): KnownFields {
  return FIELDS[kind];
}

/** What is to be said of a field that a kernel schema does not know. */
export type FieldStatus = 'unknown' | 'not supported' | 'without effect' | { readonly renamed: string };

/** Evaluates a field that the schema of its object does not have, by what the compatible product makes of it. */
export function evaluateField(kind: Kind, key: string, value: unknown): FieldStatus {
  const known = FIELDS[kind];
  if (Object.hasOwn(known, key)) {
    const text = JSON.stringify(value);
    return known[key]!.some((inert) => JSON.stringify(inert) === text) ? 'without effect' : 'not supported';
  }
  return kind !== 'router' && Object.hasOwn(OLD_FIELDS, key) ? { renamed: OLD_FIELDS[key]! } : 'unknown';
}
