import { deepEqual, equal } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Operations } from '#kernel';
import { sluice } from '../kernel/cli/command.ts';
import { startBackend, startGateway, type TestBackend } from '../support/gateway.ts';

const responses: Readonly<Record<string, object>> = {
  '/cities/Madrid': { celsius: 31.5, sky: 'clear', station: 7 },
  '/countries/ES': { name: 'Spain' },
  '/currencies/ES': { code: 'EUR' },
};

describe('the sample "tools"', () => {
  let backend: TestBackend;
  let gateway: Operations;
  let config: { extra_config: { 'ai/mcp': { servers: { tools: object[] }[] } } };
  let url: URL;

  before(async () => {
    backend = await startBackend(({ target }, response) => {
      const body = responses[target];
      response.writeHead(body ? 200 : 404, { 'Content-Type': 'application/json' }).end(JSON.stringify(body ?? {}));
    });
    const text = readFileSync('samples/tools/gateway.json', 'utf8').replaceAll('http://localhost:8081', backend.url);
    config = JSON.parse(text);
    gateway = await startGateway(config);
    url = new URL(`http://127.0.0.1:${(await gateway.listen()).port}/mcp`);
  });
  after(async () => {
    await gateway.close();
    await backend.close();
  });

  it('passes check without warnings', async () => {
    for (const file of ['gateway', 'federation']) {
      const { code, err } = await sluice('check', '-c', `samples/tools/${file}.json`);
      deepEqual([code, err], [0, '']);
    }
  });

  it('serves the official MCP client as its transcript shows, over a reload', async () => {
    const lines: string[] = [];
    const said = (...words: unknown[]) =>
      lines.push(words.map((word) => (typeof word === 'string' ? word : JSON.stringify(word))).join(' '));
    const transport = new StreamableHTTPClientTransport(url);
    const client = new Client({ name: 'transcript', version: '1.0.0' });
    await client.connect(transport);
    said('connected:', client.getServerVersion(), client.getServerCapabilities());
    said('instructions:', client.getInstructions());
    const list = async () => {
      const { tools } = await client.listTools();
      said('> tools/list');
      for (const { name, inputSchema } of tools) said('<', name, inputSchema.required);
    };
    const call = async (name: string, args: Record<string, unknown>) => {
      const { content, structuredContent, isError } = await client.callTool({ name, arguments: args });
      said('> tools/call', name, args);
      said(isError ? '< error' : '<', ...(content as { text: string }[]).map(({ text }) => text));
      if (structuredContent) said('< data', structuredContent);
    };
    await list();
    await call('weather', { city: 'Madrid' });
    await call('country', { code: 'ES' });
    await call('country', { code: 'Spain' });
    await call('country', { code: 'XX' });
    const session = transport.sessionId;
    const [server] = config.extra_config['ai/mcp'].servers;
    const changed = structuredClone(config);
    changed.extra_config['ai/mcp'].servers[0]!.tools.push({ ...server!.tools[1], name: 'nation' });
    await gateway.reload(changed);
    said('(a reload adds the tool nation)');
    await list();
    await call('nation', { code: 'ES' });
    await call('weather', { city: 'Madrid' });
    equal(transport.sessionId, session);
    said('the session is the same');
    await client.close();
    const text = `${lines.join('\n')}\n`.replaceAll(backend.url, 'http://localhost:8081');
    equal(text, readFileSync('samples/tools/transcript.txt', 'utf8'));
  });

  it('also serves the tools as HTTP endpoints', async () => {
    equal((await gateway.inject('/weather/Madrid')).body, '{"celsius":31.5,"sky":"clear"}');
    equal((await gateway.inject('/countries/ES')).body, '{"name":"Spain","currency":{"code":"EUR"}}');
  });
});
