import { type Conversion, type Data, type DataObject, isObject, joinPointer } from '#contract';

const CLIENT = 'plugin/http-client';
const HTTP = 'backend/http/client';

/** Successors of KrakenD's built-in clients: a component and its settings. */
const successors: Readonly<Record<string, (config: DataObject) => readonly [component: string, settings: DataObject]>> =
  {
    'no-redirect': () => [HTTP, { no_redirect: true }],
    'http-proxy': (config) => {
      const own = config['http-proxy'];
      const address = config['proxy_address'] ?? (isObject(own) ? own['proxy_address'] : undefined);
      const settings: DataObject = address === undefined ? {} : { proxy_address: address };
      return [HTTP, settings];
    },
  };

/**
 * Converts KrakenD's built-in clients to their successors. Existing settings of a successor take
 * precedence.
 * Codes: a warning CONFIG_OLD_PLUGIN; WILDCARD_CLIENT.
 */
export function convertClients(document: DataObject, report: Conversion): void {
  eachBackend(document, (backend, pointer) => {
    const components = backend['extra_config'];
    const config = isObject(components) ? components[CLIENT] : undefined;
    if (!isObject(components) || !isObject(config) || typeof config['name'] !== 'string') return;
    const { name } = config;
    const at = joinPointer(pointer, 'extra_config', CLIENT, 'name');
    if (name === 'wildcard') {
      report.error('WILDCARD_CLIENT', at, 'no "wildcard" of "plugin/http-server" matches this endpoint', {
        hint: 'endpoints whose path ends in "/*" append the rest of the path automatically',
      });
      delete components[CLIENT];
      return;
    }
    if (!Object.hasOwn(successors, name)) return;
    const [component, settings] = successors[name]!(config);
    const present = Object.hasOwn(components, component) ? components[component] : undefined;
    const written = isObject(present) ? { ...settings, ...present } : settings;
    report.warn(
      'CONFIG_OLD_PLUGIN',
      at,
      `the built-in client "${name}" is outdated: it was replaced by "${component}"`,
      {
        hint: `"${component}": ${JSON.stringify(written)}`,
      },
    );
    delete components[CLIENT];
    components[component] = written;
    if (present === undefined) report.moved(joinPointer(pointer, 'extra_config'), component, CLIENT);
  });
}

/** Visits every well-formed backend of every endpoint. */
export function eachBackend(document: DataObject, visit: (backend: DataObject, pointer: string) => void): void {
  const lists = listOf(document['endpoints']);
  for (const [index, endpoint] of lists.entries()) {
    if (!isObject(endpoint)) continue;
    for (const [at, backend] of listOf(endpoint['backend']).entries()) {
      if (isObject(backend)) visit(backend, `/endpoints/${index}/backend/${at}`);
    }
  }
}

function listOf(value: Data | undefined): readonly Data[] {
  return Array.isArray(value) ? value : [];
}
