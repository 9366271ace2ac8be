import { ConfigError, type Encoding, type EndpointConfig, findNear, type ServiceConfig } from '#contract';
import { containedEncoding } from '../../containment/contained-value.ts';
import type { Registry } from '../../registry/registry.ts';
import type { Build } from './build.ts';
import { guardsAt } from './guards.ts';

/** Finds an encoding by name that supports the given use; an unknown name is an error that suggests the nearest one. */
export function findEncoding(
  { build, registry }: { readonly build: Build; readonly registry: Registry },
  name: string,
  pointer: string,
  use: 'read' | 'write',
  endpoint: EndpointConfig,
): Encoding | undefined {
  const encoding = registry.encoding(name);
  const canBe = ({ raw, encode, decode }: Encoding) => (use === 'read' ? decode : raw || encode);
  if (encoding && canBe(encoding)) {
    const guards = guardsAt(build, registry.plugin(`encoding/${name}`)!, endpoint);
    return guards ? containedEncoding(encoding, guards) : encoding;
  }
  const able = registry.names('encoding').filter((known) => {
    const candidate = registry.encoding(known);
    return !candidate || canBe(candidate);
  });
  const isOwn = use === 'read' || name !== build.config.output_encoding;
  build.errors.push(isOwn ? unknownEncoding(name, pointer, use, able) : unknownDefault(build.config, able));
  return undefined;
}

function unknownEncoding(name: string, pointer: string, use: 'read' | 'write', able: readonly string[]): ConfigError {
  const near = findNear(name, able);
  const purpose = use === 'read' ? 'read backend responses' : 'write responses';
  return new ConfigError('ENCODING_UNKNOWN', pointer, `encoding "${name}" does not exist or cannot ${purpose}`, {
    hint: near ? `did you mean "${near.name}"?` : `one of ${able.join(', ')}`,
    fix: near?.isSure ? { value: near.name } : undefined,
  });
}

/** Errors of the service's output encoding, reported once for all endpoints that inherit it. */
const unknownDefaults = new WeakMap<ServiceConfig, ConfigError>();

function unknownDefault(config: ServiceConfig, able: readonly string[]): ConfigError {
  let error = unknownDefaults.get(config);
  if (!error) {
    error = unknownEncoding(config.output_encoding, '/output_encoding', 'write', able);
    unknownDefaults.set(config, error);
  }
  return error;
}
