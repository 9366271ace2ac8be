import {
  atBackend,
  atEndpoint,
  CallError,
  definePlugin,
  type EndpointSite,
  hasKeys,
  type Infer,
  type PipeRequest,
  Reply,
  type Wrap,
} from '#contract';
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
      description: 'An expression in JMESPath; what it gives for the data takes the place of the data.',
      examples: ['people[?age > `18`].name'],
    },
  },
} as const;

type JmespathConfig = Infer<typeof schema>;

/**
 * Replaces decoded data by what an expression gives for it: an array is then under `collection`, a scalar under `content`.
 * Status, headers and completeness stay. Without data nothing is done.
 *
 * Fault of the configuration: `JMESPATH_SYNTAX`; warning `JMESPATH_RAW`. Errors of a call: `JMESPATH_TYPE`,
 * `JMESPATH_LIMIT`.
 */
export const plugin = definePlugin({
  name: 'modifier/jmespath',
  description: 'Replaces the data of a response by the result of a JMESPath expression.',
  leaves: ['requests'],
  places: [
    atEndpoint(schema, (site) => {
      const wrap = replacing(site, [site.endpoint.output_encoding]);
      return wrap ? { proxy: wrap, readsData: true } : {};
    }),
    atBackend(schema, (site) => {
      const wrap = replacing(site, [site.endpoint.output_encoding, site.backend.encoding]);
      return wrap ? { backend: wrap, readsData: true } : {};
    }),
  ],
});

/** @returns null where one of the encodings passes bytes. */
function replacing(site: EndpointSite<JmespathConfig>, encodings: readonly string[]): Wrap<PipeRequest> | null {
  const expression = readExpression(site, site.config.expr, '/expr');
  const raw = encodings.find((encoding) => site.encoding(encoding)?.raw);
  if (raw !== undefined) {
    site.warn('JMESPATH_RAW', '', `the expression has no effect: with the encoding ${raw} nothing is decoded`);
    return null;
  }
  const replace = (reply: Reply): Reply => {
    if (reply.data === null || !hasKeys(reply.data)) return reply;
    try {
      reply.data = toData(expression.search(reply.data));
      return reply;
    } catch (error) {
      if (error instanceof CallError) return Reply.failed(error);
      throw error;
    }
  };
  return (next) => (request, call) => {
    const reply = next(request, call);
    return reply instanceof Promise ? reply.then(replace) : replace(reply);
  };
}
