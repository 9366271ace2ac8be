import { atBackend, atEndpoint, definePlugin, type EndpointSite, type PipeRequest, type Wrap } from '#contract';
import { onData, rawEncodingAt } from '../../shared/replies/on-data.ts';
import { generatingResponses } from '../lib/template/response-body.ts';
import { type GeneratorConfig, generatorSchema, responseExample } from '../lib/template/schema.ts';
import { type ModifiersConfig, modifiersSchema } from './schema.ts';
import { compileModifiers } from './text-modifiers.ts';

const schema = {
  description: 'Modifiers of strings (`modifiers`), or the fields of modifier/response-body-generator.',
  examples: [
    { modifiers: [{ regexp: { field: 'card.number', find: '^.*(\\d{4})$', replace: 'XXXX-$1' } }] },
    { modifiers: [{ trim: { field: 'items.*.title', find: ' ' } }, { upper: { field: 'country' } }] },
    { template: responseExample },
  ],
  anyOf: [modifiersSchema, generatorSchema(responseExample)],
} as const;

/**
 * Changes texts in the data of responses, or acts as an alias of `modifier/response-body-generator`, depending on its
 * configuration. Values other than texts are unchanged, as are undecoded bodies.
 * Configuration errors: `PATTERN_INVALID`, and those of the generator; warning `RESPONSE_BODY_RAW`. Error of a call:
 * `PATTERN_LIMIT` for a text that is too long for its expression.
 */
export const plugin = definePlugin({
  name: 'modifier/response-body',
  description: 'Modifies strings in the response data.',
  freeKeys: true,
  leaves: ['requests'],
  places: [
    atEndpoint(schema, (site) => {
      const changed = attach(site);
      return changed ? { proxy: changed.wrap, readsData: changed.readsData } : {};
    }),
    atBackend(schema, (site) => {
      const changed = attach(site);
      return changed ? { backend: changed.wrap, readsData: changed.readsData } : {};
    }),
  ],
});

interface Changing {
  readonly wrap: Wrap<PipeRequest>;
  readonly readsData: true | 'optional';
}

/** @returns null if the configuration has no effect. */
function attach(site: EndpointSite<ModifiersConfig | GeneratorConfig>): Changing | null {
  const { config } = site;
  if (!('modifiers' in config)) {
    return { wrap: generatingResponses(site as EndpointSite<GeneratorConfig>), readsData: 'optional' };
  }
  const change = compileModifiers(site, config.modifiers);
  const raw = rawEncodingAt(site);
  if (raw !== undefined) {
    site.warn(
      'RESPONSE_BODY_RAW',
      '',
      `the modifiers have no effect: with the encoding ${raw}, the response is not decoded`,
    );
    return null;
  }
  return config.modifiers.length === 0 ? null : { wrap: onData(change), readsData: true };
}
