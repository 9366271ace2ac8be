import { small } from './payloads.ts';
import type { Scenario } from './scenario.ts';

const text = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'small', arguments: {} } });
const backend = [{ url_pattern: '/small', deny: ['nothing'] }];

/** Measures the cost of a tool call over a request to the endpoint that it calls, which decodes and encodes 1 KiB. */
export const toolScenario: Scenario = {
  name: 'tool-call',
  path: '/bench/tool-call',
  endpoint: { backend },
  expected: small,
  attach: () => ({
    service: {
      'ai/mcp': {
        servers: [
          {
            name: 'tools',
            title: 'Tools',
            version: '1',
            stateless: true,
            json_response: true,
            tools: [{ name: 'small', title: 'Small', description: 'Gives 1 KiB.', endpoint: '/bench/tool-call' }],
          },
        ],
      },
    },
    endpoints: [
      {
        endpoint: '/mcp',
        method: 'POST',
        extra_config: { 'ai/mcp': { server_name: 'tools' } },
        backend: [{ url_pattern: '/never' }],
      },
    ],
    request: {
      method: 'POST',
      path: '/mcp',
      body: text,
      headers: ['Content-Type', 'application/json', 'Content-Length', String(text.length)],
    },
  }),
};
