import {
  type AtBackend,
  type AtEndpoint,
  atBackend,
  atEndpoint,
  definePlugin,
  httpSigners,
  meters,
  type PipeRequest,
  type Wrap,
} from '#contract';
import { anyHeader, personalHeaders } from '../services/personal-headers.ts';
import { handlers, type Kind } from './lib/handlers.ts';
import { asFunction, contained, joined, make } from './lib/make.ts';
import { asResponseModifier, modifyingReply, modifyingRequest, type RequestModifier } from './lib/modify.ts';
import { findNamed, type NamingSite, wholeConfig } from './lib/place.ts';
import { SyncTime } from './lib/sync-time.ts';

const schema = {
  type: 'object',
  title: 'Modifiers of your own',
  examples: [{ name: ['example'], example: { header: 'X-Team' } }],
  properties: {
    name: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      description: 'Names of modifiers, in the order in which they run.',
      default: [],
    },
  },
  values: { type: 'any', description: 'The settings of the modifier of this name.' },
} as const;

/**
 * Runs modifiers of loaded modules on the requests and responses of an endpoint, or of one backend.
 *
 * Faults of the configuration: `PLUGIN_UNKNOWN`, `PLUGIN_SETTINGS`, `PLUGIN_FACTORY`, `CONFIG_NOT_SUPPORTED`; a warning
 * `PLUGIN_UNUSED`. Errors of a call: `PLUGIN_ERROR`.
 */
export const plugin = definePlugin({
  name: 'plugin/req-resp-modifier',
  description: 'Runs modifiers of your own on the requests and responses of an endpoint, or of one backend.',
  offers: [personalHeaders],
  takes: [handlers, meters, httpSigners],
  places: [
    atEndpoint(schema, (site) => attach(site, 'proxy', site.encoding(site.endpoint.output_encoding)?.raw === true)),
    atBackend(schema, (site) => attach(site, 'backend', site.encoding(site.endpoint.output_encoding)?.raw === true)),
  ],
});

type Attachment = AtEndpoint & AtBackend;

/** What all that is named attaches, as one wrap of a phase: requests pass the first modifier first, and so do responses. */
function attach(site: NamingSite, phase: 'proxy' | 'backend', raw: boolean): Attachment {
  const requests: Wrap<PipeRequest>[] = [];
  const responses: Wrap<PipeRequest>[] = [];
  const names = site.config['name'] as readonly string[];
  for (const named of findNamed(site, names, ['requestModifier', 'responseModifier'])) {
    const { entry } = named;
    const config = wholeConfig(site, named);
    const time = new SyncTime(site, 'modifier', entry.name);
    const add = (kind: Kind, wraps: Wrap<PipeRequest>[], stage: () => Wrap<PipeRequest>): void => {
      if (!entry[kind]) return;
      wraps.push(contained(site, kind, named, (): Attachment => ({ [phase]: stage() }))[phase]!);
    };
    add('requestModifier', requests, () =>
      modifyingRequest({ made: make<RequestModifier>(site, 'requestModifier', named, config, asFunction), time }),
    );
    add('responseModifier', responses, () =>
      modifyingReply({ made: make(site, 'responseModifier', named, config, asResponseModifier), time }, raw),
    );
  }
  site.log.debug(`Adding ${requests.length} request and ${responses.length} response modifiers`);
  if (requests.length + responses.length === 0) return {};
  return {
    // What a modifier refuses is no response that others modify.
    [phase]: joined([...requests, ...responses.toReversed()]),
    ...(responses.length > 0 && { readsData: 'optional' }),
    offers: requests.length > 0 ? [anyHeader] : [],
  };
}
