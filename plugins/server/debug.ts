import { definePlugin, maskQuery, maskTarget, Query } from '#contract';
import { headerLists, targetOf, textOf } from './lib/described-request.ts';
import { jsonReply } from './lib/json-reply.ts';

/** Backend that logs the requests it receives. */
export const plugin = definePlugin({
  name: 'server/debug',
  description: 'Serves /__debug/ and logs the requests it receives.',
  always: ({ setting, use }) => {
    if (!setting('debug_endpoint')) return {};
    const log = use('log').at('[ENDPOINT: /__debug/*]');
    return {
      routes: [
        {
          path: '/__debug/*',
          description: 'Logs requests to this path at DEBUG.',
          async handle(request) {
            const body = await textOf(request);
            log.debug(`Method: ${request.method}`);
            log.debug(() => `URL: ${maskTarget(targetOf(request))}`);
            log.debug(() => `Query: ${JSON.stringify(Object.fromEntries(Query.parse(maskQuery(request.search))))}`);
            log.debug(() => `Params: ${JSON.stringify({ param: request.path.slice('/__debug'.length) })}`);
            log.debug(() => `Headers: ${JSON.stringify(headerLists(request, true))}`);
            log.debug(`Body: ${body}`);
            return jsonReply({ message: 'pong' });
          },
        },
      ],
    };
  },
});
