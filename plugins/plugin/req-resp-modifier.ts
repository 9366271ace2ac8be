import {
  type AtBackend,
  type AtEndpoint,
  atBackend,
  atEndpoint,
  definePlugin,
  type Encoding,
  type PipeRequest,
  type Wrap,
} from '#contract';
import { anyHeader, personalHeaders } from '../shared/http-headers/personal.ts';
import { type BuiltInModifier, modifierBuiltIns, modifierSchemas } from './built-ins/modifiers.ts';
import { stageOf } from './isolated/place.ts';
import { contained, hostPorts, joined } from './lib/make.ts';
import { findBuiltIns, findModules } from './lib/named-built-ins.ts';
import { convertModifiers, SUCCESSOR } from './lib/old-modifiers.ts';
import { type Named, type NamingSite, wholeConfig } from './lib/place.ts';
import { convertLists, listedPlugins, pluginList } from './lib/plugin-lists.ts';

const schema = {
  type: 'object',
  title: 'Custom modifiers',
  examples: [
    { name: ['example'], example: { header: 'X-Team' } },
    {
      name: ['content-replacer', 'ip-filter'],
      'content-replacer': { 'card.number': { find: '(^\\d{4})(.*)', replace: '$1-XXXX', regexp: true } },
      'ip-filter': { CIDR: ['192.168.0.7'], trusted_proxies: ['10.0.0.0/8'] },
    },
  ],
  properties: {
    name: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      description: 'Modifier names, in execution order.',
      default: [],
    },
    plugins: pluginList,
    ...modifierSchemas,
  },
  values: { type: 'any', description: 'Settings of the modifier with this name.' },
} as const;

const builtInNames = Object.keys(modifierSchemas) as (keyof typeof modifierSchemas)[];
const kinds = ['requestModifier', 'responseModifier'] as const;

/**
 * Runs modifiers of loaded modules on the requests and responses of an endpoint, or of one backend.
 * Configuration errors: `PLUGIN_UNKNOWN`, `PLUGIN_SETTINGS`, `PLUGIN_FACTORY`, `REDIS_CONNECTION`, `QUOTA_UNKNOWN`,
 * `QUOTA_RULE`, `CONFIG_NOT_SUPPORTED`; a warning `PLUGIN_UNUSED`. Errors of a call: `PLUGIN_ERROR`.
 */
export const plugin = definePlugin({
  name: 'plugin/req-resp-modifier',
  description: 'Runs custom modifiers on the requests and responses of an endpoint or a backend.',
  offers: [personalHeaders],
  takes: hostPorts,
  becomes: [SUCCESSOR],
  inVersionFour: listedPlugins,
  convert(document, report) {
    convertLists('plugin/req-resp-modifier', document, report);
    convertModifiers(document, report);
  },
  places: [
    atEndpoint(schema, (site) => attach(site, 'proxy', site.encoding(site.endpoint.output_encoding))),
    atBackend(schema, (site) => attach(site, 'backend', site.encoding(site.endpoint.output_encoding))),
  ],
});

type Attachment = AtEndpoint & AtBackend;

/** Combines all listed modifiers into one wrap of a phase: both requests and responses pass the first modifier first. */
function attach(site: NamingSite, phase: 'proxy' | 'backend', output: Encoding | undefined): Attachment {
  const raw = output?.raw === true;
  const requests: Wrap<PipeRequest>[] = [];
  const responses: Wrap<PipeRequest>[] = [];
  const names = site.config['name'] as readonly string[];
  const builtIns = findBuiltIns(site, names, builtInNames, kinds);
  const modules = findModules(site, names, builtIns, kinds);
  const own: BuiltInModifier[] = [];
  for (const index of names.keys()) {
    const builtIn = builtIns.get(index);
    if (!builtIn) {
      addModule(site, modules.get(index)!, { phase, raw, requests, responses });
      continue;
    }
    const attachOne = modifierBuiltIns[builtIn.name] as (...given: unknown[]) => BuiltInModifier;
    const place = phase === 'proxy' ? ('endpoint' as const) : ('backend' as const);
    const stance = { place, raw: raw && !output.messages };
    const { request, response, ...rest } = attachOne(site, builtIn.settings, builtIn.pointer, stance);
    if (request) requests.push(request);
    if (response) responses.push(response);
    own.push(rest);
  }
  site.log.debug(`Adding ${requests.length} request and ${responses.length} response modifiers`);
  const endpoint = own.find((each) => each.endpoint)?.endpoint;
  const message = own.find((each) => each.message)?.message;
  const outer = { ...(endpoint && { endpoint }), ...(message && { message }) };
  if (requests.length + responses.length === 0) return outer;
  return {
    ...outer,
    // If a request modifier rejects the request, response modifiers do not see the rejection.
    [phase]: joined([...requests, ...responses.toReversed()]),
    ...(responses.length > 0 && { readsData: message ? (true as const) : ('optional' as const) }),
    offers: requests.length > 0 ? [anyHeader] : [],
  };
}

/** Request and response modifiers of one endpoint or backend, each in order. */
interface Sides {
  readonly phase: 'proxy' | 'backend';
  readonly raw: boolean;
  readonly requests: Wrap<PipeRequest>[];
  readonly responses: Wrap<PipeRequest>[];
}

function addModule(site: NamingSite, named: Named, { phase, raw, requests, responses }: Sides): void {
  const config = wholeConfig(site, named);
  for (const [kind, wraps] of [
    ['requestModifier', requests],
    ['responseModifier', responses],
  ] as const) {
    if (!named.entry[kind]) continue;
    const attached = contained(
      site,
      kind,
      named,
      (): Attachment => ({
        [phase]: stageOf(site, kind, named, config, raw),
      }),
    );
    wraps.push(attached[phase]!);
  }
}
