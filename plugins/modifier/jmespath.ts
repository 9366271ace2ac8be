import { atBackend, atEndpoint, type DataObject, definePlugin, type EndpointSite, type Infer } from '#contract';
import { hasMessages, onData, onMessage, rawEncodingAt } from '../shared/replies/on-data.ts';
import { readExpression } from './lib/jmespath/read-expression.ts';
import { toData } from './lib/to-data.ts';

const schema = {
  type: 'object',
  required: ['expr'],
  examples: [{ expr: 'people[?age > `18`].name' }, { expr: '{names: people[].name, total: length(people)}' }],
  properties: {
    expr: {
      type: 'string',
      minLength: 1,
      description:
        'JMESPath expression. Its result replaces the response data, or the data of each message of a stream.',
      examples: ['people[?age > `18`].name'],
    },
  },
} as const;

type JmespathConfig = Infer<typeof schema>;

/**
 * Replaces decoded data, or the data of each message of a stream, by the result of an expression: an array is returned
 * under `collection`, a scalar under `content`. Status, headers and completeness are unchanged. Responses without data are
 * not changed.
 * Configuration error: `JMESPATH_SYNTAX`; warning `JMESPATH_RAW`. Errors of a call: `JMESPATH_TYPE`, `JMESPATH_LIMIT`.
 */
export const plugin = definePlugin({
  name: 'modifier/jmespath',
  description: 'Replaces the data of a response with the result of a JMESPath expression.',
  leaves: ['requests'],
  places: [atEndpoint(schema, (site) => attach(site, 'proxy')), atBackend(schema, (site) => attach(site, 'backend'))],
});

function attach(site: EndpointSite<JmespathConfig>, phase: 'proxy' | 'backend') {
  const expression = readExpression(site, site.config.expr, '/expr');
  const change = (data: DataObject) => toData(expression.search(data));
  if (hasMessages(site)) return { message: onMessage(change), readsData: true as const };
  const raw = rawEncodingAt(site);
  if (raw !== undefined) {
    site.warn(
      'JMESPATH_RAW',
      '',
      `the expression has no effect: with the encoding ${raw}, the response is not decoded`,
    );
    return {};
  }
  return { [phase]: onData(change), readsData: true as const };
}
