import { deepEqual, equal } from 'node:assert/strict';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { json } from '../../../support/gateway.ts';
import { configOf, Stage } from './setup.ts';

describe('the official MCP client', () => {
  let stage: Stage;

  beforeEach(() => {
    stage = new Stage();
  });
  afterEach(() => stage.close());

  for (const jsonResponse of [true, false]) {
    for (const stateless of [true, false]) {
      for (const mode of ['legacy', 'auto'] as const) {
        it(`connects, lists tools and calls them ${stateless ? 'without' : 'with'} sessions, with ${jsonResponse ? 'JSON responses' : 'event streams'}, in the mode ${mode}`, async () => {
          await stage.start(json({ name: 'Spain' }), { server: { json_response: jsonResponse, stateless } });
          const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
          await client.connect(new StreamableHTTPClientTransport(new URL(stage.url)));
          const { tools } = await client.listTools();
          deepEqual(
            tools.map(({ name, title, description }) => [name, title, description]),
            [['lookup', 'Lookup', 'Looks a country up.']],
          );
          const result = await client.callTool({ name: 'lookup', arguments: { code: 'ES' } });
          deepEqual(result.content, [{ type: 'text', text: '{"name":"Spain"}' }]);
          equal(stage.backend.requests[0]!.target, '/__t/ES');
          await stage.gateway.reload(
            configOf(stage.backend.url, {
              server: { json_response: jsonResponse, stateless },
              root: { timeout: '3s' },
            }),
          );
          equal((await client.callTool({ name: 'lookup', arguments: { code: 'FR' } })).isError, undefined);
          equal(client.getServerVersion()?.version, '1.2.0');
          await client.close();
        });
      }
    }
  }
});
