import { atService, definePlugin, type Infer, type Schema, type Site } from '#contract';

const schema = {
  type: 'object',
  title: 'Virtual hosts',
  examples: [
    { hosts: ['shop.example.com'] },
    { aliased_hosts: { shop: 'shop.example.com', api: 'api.example.com:9000' } },
  ],
  exactlyOneOf: [['hosts', 'aliased_hosts']],
  properties: {
    hosts: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      minItems: 1,
      description:
        'Host names, with their port unless it is 80 or 443. Endpoints below /__virtual/shop.example.com/ serve requests for that host.',
      examples: [['shop.example.com']],
    },
    aliased_hosts: {
      type: 'object',
      values: { type: 'string', minLength: 1 },
      description:
        'Host names by alias of lowercase letters, digits and underscores. Endpoints below /__virtual/shop/ serve requests for the host of that alias.',
      examples: [{ shop: 'shop.example.com' }],
    },
  },
} as const satisfies Schema;

/**
 * Endpoints for a single host, declared as `/__virtual/<host or alias>/path`. A request to that host is handled by
 * them, otherwise by the endpoints for all hosts; clients never see the declared path.
 *
 * Configuration errors: `VIRTUAL_ALIAS`, `VIRTUAL_HOST`.
 */
export const plugin = definePlugin({
  name: 'server/virtualhost',
  description: 'Routes requests to endpoints by host name.',
  leaves: ['requests', 'data'],
  places: [
    atService(schema, (site) => {
      const names = readHosts(site);
      return { virtualHosts: { names: [...names.values()], nameOf: (host) => names.get(plainHost(host)) ?? null } };
    }),
  ],
});

/** Path segments after `/__virtual/`, by host. @throws ConfigError VIRTUAL_ALIAS, VIRTUAL_HOST */
function readHosts({ config, fault }: Site<Infer<typeof schema>>): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const add = (name: string, host: string, pointer: string): void => {
    const plain = plainHost(host);
    if (plain === '' || /[/{}?#\s]/.test(plain)) throw fault('VIRTUAL_HOST', pointer, `"${host}" is not a valid host`);
    const other = names.get(plain);
    if (other !== undefined) throw fault('VIRTUAL_HOST', pointer, `duplicate host "${host}"`);
    names.set(plain, name);
  };
  for (const [index, host] of (config.hosts ?? []).entries()) add(host, host, `/hosts/${index}`);
  for (const [alias, host] of Object.entries(config.aliased_hosts ?? {})) {
    if (/^[@$_#]/.test(alias) && !/^_[a-z0-9_]+$/.test(alias)) continue;
    const pointer = `/aliased_hosts/${alias.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (!/^[a-z0-9_]+$/.test(alias)) {
      throw fault('VIRTUAL_ALIAS', pointer, `"${alias}" is not a valid alias`, {
        hint: 'lower-case letters, digits and _',
      });
    }
    add(alias, host, pointer);
  }
  return names;
}

/** Normalizes a host: letter case, a trailing dot and default ports are insignificant. */
function plainHost(host: string): string {
  const [, name = host, port = ''] = /^(\[[^\]]*\]|[^:]*)(?::(\d*))?$/.exec(host.trim()) ?? [];
  const plain = name.toLowerCase().replace(/\.$/, '');
  return port === '' || port === '80' || port === '443' ? plain : `${plain}:${port}`;
}
