import { createHash } from 'node:crypto';
import type { Data, DataObject, ServiceConfig } from '#contract';
import { componentOf, credentialsOf } from '../lib/components.ts';
import { describedEndpoints, isInternal } from '../lib/endpoints.ts';
import { Folders } from './folders.ts';
import { itemOf, plainItem } from './item.ts';
import type { CollectionSettings, ItemSettings } from './schema.ts';

const NAMESPACE = 'documentation/postman';
const FORMAT = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';

/**
 * Creates a Postman collection in format 2.1 with all endpoints. The output is deterministic.
 * @param internal include the paths served by the gateway itself.
 */
export function collectionOf(config: ServiceConfig, internal: boolean): DataObject {
  const settings = (componentOf(config.extra_config, NAMESPACE) ?? {}) as CollectionSettings;
  const { description, version, folder = [] } = settings;
  const name = nameOf(config);
  const folders = new Folders(folder);
  for (const [, endpoint] of describedEndpoints(config.endpoints)) {
    if (isInternal(endpoint)) continue;
    const own = (componentOf(endpoint.extra_config, NAMESPACE) ?? {}) as ItemSettings;
    folders.add(itemOf(endpoint, own, config), own.folder);
  }
  if (internal) for (const [title, path] of ownPaths(config)) folders.add(plainItem(title, path), 'Internal');
  return {
    info: {
      _postman_id: idOf(name),
      name,
      ...(description !== undefined && { description }),
      ...(version !== undefined && { version }),
      schema: FORMAT,
    },
    item: folders.content,
    variable: Object.entries(addressOf(config)).map(([key, value]) => ({ key, value, type: 'string' })),
  };
}

/** Creates the environment of a collection, in which only secrets need to be filled in. */
export function environmentOf(config: ServiceConfig): DataObject {
  const name = nameOf(config);
  const kinds = new Set(
    config.endpoints.flatMap((endpoint) =>
      credentialsOf(endpoint, config).map((each) => ('of' in each ? each.of : each.kind)),
    ),
  );
  const secrets = [
    ...(kinds.has('bearer') || kinds.has('token') ? ['TOKEN'] : []),
    ...(kinds.has('basic') ? ['USER', 'PASSWORD'] : []),
    ...(kinds.has('key') ? ['API_KEY'] : []),
  ];
  const values: Data[] = [
    ...Object.entries(addressOf(config)).map(([key, value]) => ({ key, value, type: 'default', enabled: true })),
    ...secrets.map((key) => ({ key, value: '', type: 'secret', enabled: true })),
  ];
  return { id: idOf(`${name} environment`), name, values, _postman_variable_scope: 'environment' };
}

function nameOf({ name, extra_config: components }: ServiceConfig): string {
  const { name: own } = (componentOf(components, NAMESPACE) ?? {}) as CollectionSettings;
  return own ?? (name || 'Untitled');
}

function addressOf({ port, tls }: ServiceConfig): Readonly<Record<string, string>> {
  const isSecure = tls !== undefined && !(tls as { readonly disabled?: boolean }).disabled;
  return { HOST: 'localhost', PORT: String(port), SCHEMA: isSecure ? 'https' : 'http' };
}

/** Returns the paths served by the gateway itself. */
function ownPaths({ router, debug_endpoint: debug, echo_endpoint: echo }: ServiceConfig): [string, string][] {
  return [
    ...(debug ? [['debug', '/__debug/'] as [string, string]] : []),
    ...(echo ? [['echo', '/__echo/'] as [string, string]] : []),
    ...(router.disable_health ? [] : [['health', router.health_path] as [string, string]]),
  ];
}

/** Returns an identifier derived from a name. */
function idOf(name: string): string {
  const digits = createHash('sha256').update(name).digest('hex');
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    digits.slice(12, 16),
    digits.slice(16, 20),
    digits.slice(20, 32),
  ].join('-');
}
