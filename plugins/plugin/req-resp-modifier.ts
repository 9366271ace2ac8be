import {
  type AttachmentTraits,
  atBackend,
  atEndpoint,
  definePlugin,
  httpSigners,
  meters,
  type PipeRequest,
  type Wrap,
} from '#contract';
import { anyHeader, personalHeaders } from '../services/personal-headers.ts';
import { handlers } from './lib/handlers.ts';
import { asFunction, make } from './lib/make.ts';
import {
  asResponseModifier,
  modifying,
  type RequestModifier,
  type ResponseModifier,
  type Timed,
} from './lib/modify.ts';
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
    atEndpoint(schema, (site) => {
      const { wrap, traits } = attach(site, site.encoding(site.endpoint.output_encoding)?.raw === true);
      return wrap ? { proxy: wrap, ...traits } : {};
    }),
    atBackend(schema, (site) => {
      const { wrap, traits } = attach(site, site.encoding(site.endpoint.output_encoding)?.raw === true);
      return wrap ? { backend: wrap, ...traits } : {};
    }),
  ],
});

/** What modifiers attach; no wrap where nothing is named. */
function attach(site: NamingSite, raw: boolean): { wrap?: Wrap<PipeRequest>; traits?: AttachmentTraits } {
  const requests: Timed<RequestModifier>[] = [];
  const responses: Timed<ResponseModifier>[] = [];
  for (const named of findNamed(site, site.config['name'] as readonly string[], [
    'requestModifier',
    'responseModifier',
  ])) {
    const { entry } = named;
    const config = wholeConfig(site, named);
    const time = new SyncTime(site, 'modifier', entry.name);
    if (entry.requestModifier) {
      requests.push({ made: make<RequestModifier>(site, 'requestModifier', named, config, asFunction), time });
    }
    if (entry.responseModifier) {
      responses.push({ made: make(site, 'responseModifier', named, config, asResponseModifier), time });
    }
  }
  site.log.debug(`Adding ${requests.length} request and ${responses.length} response modifiers`);
  if (requests.length + responses.length === 0) return {};
  return {
    wrap: modifying({ requests, responses, raw, log: site.log }),
    traits: {
      ...(responses.length > 0 && { readsData: 'optional' as const }),
      offers: requests.length > 0 ? [anyHeader] : [],
    },
  };
}
