import {
  atBackend,
  atEndpoint,
  type ClientRequest,
  definePlugin,
  type EndpointSite,
  meters,
  type PipeRequest,
  type Wrap,
} from '#contract';
import { redacting } from './redacting.ts';
import { type RedactionConfig, schema } from './schema.ts';

/**
 * Replaces personal data in request bodies by placeholders, so that neither models nor the logs of inner components
 * contain them, and restores the data in the response.
 * Configuration faults: `REDACTION_NAME`, `PATTERN_INVALID`. Errors of a call: `REDACTION_UNREADABLE`,
 * `REDACTION_LIMIT`.
 */
export const plugin = definePlugin({
  name: 'ai/redaction',
  description: 'Replaces personal data in request bodies by placeholders, and restores it in responses.',
  leaves: ['requests'],
  takes: [meters],
  places: [
    atEndpoint(schema, (site) => ({ endpoint: wrapOf<ClientRequest>(site), payload: { inflate: true } })),
    atBackend(schema, (site) => ({ backend: wrapOf<PipeRequest>(site) })),
  ],
});

function wrapOf<R extends ClientRequest | PipeRequest>(site: EndpointSite<RedactionConfig>): Wrap<R> {
  return redacting(site) as unknown as Wrap<R>;
}
