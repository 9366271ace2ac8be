import { atBackend, atEndpoint, definePlugin, type EndpointSite } from '#contract';
import { hasMessages, onData, onMessage, rawEncodingAt } from '../../shared/replies/on-data.ts';
import { generating } from '../lib/template/generating.ts';
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
 * configuration. Values other than texts are unchanged, as are undecoded bodies. Each message of a stream is changed.
 * Configuration errors: `PATTERN_INVALID`, and those of the generator; warning `RESPONSE_BODY_RAW`. Error of a call:
 * `PATTERN_LIMIT` for a text that is too long for its expression.
 */
export const plugin = definePlugin({
  name: 'modifier/response-body',
  description: 'Modifies strings in the response data.',
  freeKeys: true,
  leaves: ['requests'],
  places: [atEndpoint(schema, (site) => attach(site, 'proxy')), atBackend(schema, (site) => attach(site, 'backend'))],
});

function attach(site: EndpointSite<ModifiersConfig | GeneratorConfig>, phase: 'proxy' | 'backend') {
  const { config } = site;
  if (!('modifiers' in config)) return generating(site as EndpointSite<GeneratorConfig>, phase);
  const change = compileModifiers(site, config.modifiers);
  if (config.modifiers.length === 0) return {};
  if (hasMessages(site)) return { message: onMessage(change), readsData: true as const };
  const raw = rawEncodingAt(site);
  if (raw !== undefined) {
    site.warn(
      'RESPONSE_BODY_RAW',
      '',
      `the modifiers have no effect: with the encoding ${raw}, the response is not decoded`,
    );
    return {};
  }
  return { [phase]: onData(change), readsData: true as const };
}
