import { definePlugin } from '#contract';
import { headerLists, targetOf, textOf } from './lib/described-request.ts';
import { jsonReply } from './lib/json-reply.ts';

/** Backend that responds with the request it receives. */
export const plugin = definePlugin({
  name: 'server/echo',
  description: 'Serves /__echo/, which responds with a description of the request.',
  always: ({ setting }) => {
    if (!setting('echo_endpoint')) return {};
    return {
      routes: [
        {
          path: '/__echo/*',
          description: 'Responds with a description of the request.',
          async handle(request) {
            const { method, host, path, search } = request;
            return jsonReply({
              req_uri: targetOf(request),
              req_uri_details: { user: '', host, path, query: search, fragment: '' },
              req_method: method,
              req_querystring: Object.fromEntries(request.query),
              req_body: await textOf(request),
              req_headers: headerLists(request, false),
            });
          },
        },
      ],
    };
  },
});
