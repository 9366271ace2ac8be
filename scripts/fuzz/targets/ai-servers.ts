import { type HttpMessage, httpDialect } from '../dialects.ts';
import { driveGateway } from '../drive-gateway.ts';
import { hostileTarget } from '../hostile-target.ts';

const tool = { name: 't', description: 'A tool.', inputSchema: { type: 'object' } };
const results: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: 'a', version: '1' },
  },
  'tools/list': { tools: [tool] },
  'tools/call': { content: [{ type: 'text', text: 'served' }] },
};

/** Response to a message of the Model Context Protocol, as an event. */
function mcpResponse({ body }: HttpMessage): string {
  if (body === '') return 'data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n';
  const { id, method } = JSON.parse(body) as { id?: number; method: string };
  return id === undefined
    ? ''
    : `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, result: results[method] })}\n\n`;
}

/** A misbehaving MCP server behind an MCP server of the gateway. */
export const mcpUpstream = hostileTarget({
  name: 'mcp-upstream',
  dialect: httpDialect(mcpResponse, 'Content-Type: text/event-stream\r\nMcp-Session-Id: s'),
  rooms: ['plugins/ai/mcp/remote/'],
  deadlineMs: 300,
  // The list of tools is read again after this time.
  recoveryMs: 3_000,
  drive: (port) =>
    driveGateway(
      { extra_config: { 'ai/mcp': { server_name: 's' } }, backend: [{ url_pattern: '/never' }] },
      {
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': '2025-11-25',
        },
        payload: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name: 'u_t', arguments: {} },
        }),
        isServed: (body) => body.includes('served'),
      },
      {
        extra_config: {
          'ai/mcp': {
            servers: [
              {
                name: 's',
                title: 'S',
                version: '1',
                stateless: true,
                json_response: true,
                upstreams: [{ name: 'u', url: `http://127.0.0.1:${port}/mcp`, list_ttl: '1s' }],
              },
            ],
          },
        },
      },
    ),
});

/** A misbehaving server of embeddings for a semantic cache, which is also the backend. */
export const embeddings = hostileTarget({
  name: 'embeddings',
  dialect: httpDialect('{"data":[{"embedding":[0.25,-0.5,1]}],"answer":"a"}'),
  rooms: ['plugins/ai/semantic-cache/'],
  deadlineMs: 300,
  recoveryMs: 8_000,
  drive: (port) =>
    driveGateway(
      {
        extra_config: { 'ai/semantic-cache': {} },
        backend: [{ host: [`http://127.0.0.1:${port}`], url_pattern: '/b' }],
      },
      { headers: { 'content-type': 'application/json' }, payload: '{"messages":[{"role":"user","content":"a"}]}' },
      {
        extra_config: {
          'ai/semantic-cache': { embedders: [{ name: 'default', url: `http://127.0.0.1:${port}/embeddings` }] },
        },
      },
    ),
});
