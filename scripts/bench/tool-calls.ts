import { answering } from './answering.ts';
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

/** Source of an MCP server with a tool. */
const server = `(body) => {
  const { id, method } = JSON.parse(body);
  const tools = [{ name: 'small', description: 'Returns a text.', inputSchema: { type: 'object' } }];
  const results = {
    initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'far', version: '1' } },
    'tools/list': { tools },
    'tools/call': { content: [{ type: 'text', text: 'x'.repeat(1024) }] },
  };
  return id === undefined ? {} : { jsonrpc: '2.0', id, result: results[method] };
}`;

const remoteText = text.replace('"small"', '"far_small"');

/** Measures the cost of a tool call that another MCP server answers, over a request to an endpoint. */
export const remoteToolScenario: Scenario = {
  ...{
    name: 'tool-call-upstream',
    path: '/bench/tool-call-upstream',
    endpoint: { backend },
    expected: small,
    together: 50,
  },
  attach: (folder) => ({
    service: {
      'ai/mcp': {
        servers: [
          {
            ...{ name: 'tools', title: 'Tools', version: '1', stateless: true, json_response: true },
            upstreams: [{ name: 'far', url: answering(folder, server) }],
          },
        ],
      },
    },
    endpoints: [
      {
        ...{ endpoint: '/mcp', method: 'POST', backend: [{ url_pattern: '/never' }] },
        extra_config: { 'ai/mcp': { server_name: 'tools' } },
      },
    ],
    request: {
      ...{ method: 'POST', path: '/mcp', body: remoteText },
      headers: ['Content-Type', 'application/json', 'Content-Length', String(remoteText.length)],
    },
  }),
};
