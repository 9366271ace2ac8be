import { type AttackedEndpoint, type Data, isObject, joinPointer, type ServiceConfig } from '#contract';
import type { IsSecret, KnownPlugins } from '../config/index.ts';
import { localFiles, summarize } from '../inspect/index.ts';

/** Minimum length of a secret that is looked for in responses. Shorter texts also occur by chance. */
const MIN_SECRET = 6;

/** The endpoints of a configuration, each with the components that take part in its requests. */
export function attackedEndpoints(config: ServiceConfig, known: KnownPlugins): AttackedEndpoint[] {
  const { endpoints, components } = summarize(config, config, localFiles, known);
  return endpoints.map(({ config: endpoint, pointer }) => ({
    id: `${endpoint.method} ${endpoint.endpoint}`,
    pointer,
    config: endpoint,
    components: components.filter((each) => each.level === 'service' || each.pointer.startsWith(`${pointer}/`)),
  }));
}

/** Values of all secrets of a configuration that can be recognized in a response. */
export function secretsOf(config: ServiceConfig, isSecret: IsSecret): string[] {
  const secrets = new Set<string>();
  const visit = (value: Data, pointer: string, holder: unknown): void => {
    if (typeof value === 'string') {
      if (value.length >= MIN_SECRET && isSecret(pointer, value, holder)) secrets.add(value);
    } else if (Array.isArray(value)) {
      for (const [at, item] of value.entries()) visit(item, joinPointer(pointer, at), value);
    } else if (isObject(value)) {
      for (const [key, member] of Object.entries(value)) visit(member as Data, joinPointer(pointer, key), value);
    }
  };
  visit(config as unknown as Data, '', undefined);
  return [...secrets];
}
