import { equal } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestBackend } from '../../../support/gateway.ts';
import { startBackend } from '../../../support/gateway.ts';
import { Stage } from './setup.ts';

const program = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'));
const notOffered = fileURLToPath(new URL('conformance.yml', import.meta.url));

/** Tools and resources that the suite calls, each an endpoint that returns the response of its backend. */
const tools = [
  { name: 'test_simple_text', endpoint: '/text' },
  { name: 'test_image_content', endpoint: '/image', type: 'image' },
  { name: 'test_audio_content', endpoint: '/audio', type: 'audio' },
  { name: 'test_error_handling', endpoint: '/error' },
  {
    name: 'json_schema_2020_12_tool',
    endpoint: '/text',
    input_schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: { address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
      properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
      additionalProperties: false,
    },
  },
].map((tool) => ({ title: tool.name, description: 'As the suite wants it.', ...tool }));

const answers: Readonly<Record<string, readonly [status: number, type: string, body: string]>> = {
  '/text': [200, 'text/plain', 'This is a simple text response for testing.'],
  '/image': [200, 'image/png', 'bytes'],
  '/audio': [200, 'audio/wav', 'bytes'],
  '/error': [500, 'text/plain', 'This tool intentionally returns an error for testing'],
};

describe('the MCP conformance suite', () => {
  const stage = new Stage();
  let backend: TestBackend;
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'conformance-'));
    backend = await startBackend(({ target }, response) => {
      const [status, type, body] = answers[target]!;
      response.writeHead(status, { 'Content-Type': type }).end(body);
    });
    const endpoints = Object.keys(answers).map((path) => ({
      endpoint: path,
      output_encoding: 'no-op',
      backend: [{ url_pattern: path, host: [backend.url] }],
    }));
    // Lists the allowed origins, because any host name can resolve to a local server.
    const cors = { 'security/cors': { allow_origins: ['http://127.0.0.1:*'] } };
    await stage.start(() => {}, { tools, endpoints, extra: cors, server: { sse_transport: true } });
  });
  after(async () => {
    await stage.close();
    await backend.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('passes, except for features that the gateway does not offer', async function () {
    this.timeout(120_000);
    const args = ['server', '--url', stage.url, '--suite', 'all', '--expected-failures', notOffered, '-o', folder];
    const { code, text } = await new Promise<{ code: number; text: string }>((resolve) => {
      const child = execFile(process.execPath, [program, ...args], { cwd: folder }, (_error, stdout, stderr) =>
        resolve({ code: child.exitCode ?? -1, text: `${stdout}\n${stderr}` }),
      );
    });
    equal(code, 0, text.slice(text.indexOf('=== SUMMARY')));
  });
});
