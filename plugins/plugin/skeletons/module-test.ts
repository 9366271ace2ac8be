import type { Naming } from '#contract';

/** Position of a module in the configuration of its test. */
interface TestPlace {
  readonly level: 'service' | 'endpoint' | 'backend';
  /** Whether the header reaches the backend, which returns it. */
  readonly changesRequest: boolean;
  /** Component settings as JSON text, without a trailing comma. */
  readonly extraConfig: string;
}

/** Creates the test of a module: a gateway loads the file, and a request passes through it to a backend. */
export function moduleTest({ name, word, header }: Naming, { level, changesRequest, extraConfig }: TestPlace): string {
  const written = extraConfig.replaceAll(/"(\w+)":/g, '$1:').replaceAll('"', "'");
  const at = (here: TestPlace['level'], indent: string) => (here === level ? `\n${indent}${written},` : '');
  const backend =
    level === 'backend'
      ? `{\n            url_pattern: '/',${at('backend', '            ')}\n          },`
      : `{ url_pattern: '/' },`;
  const shown = changesRequest
    ? `  deepEqual(JSON.parse(body), { received: 'hello' });`
    : `  equal(headers['${header.toLowerCase()}'], 'hello');
  deepEqual(JSON.parse(body), { received: null });`;
  return `import { ${changesRequest ? 'deepEqual' : 'deepEqual, equal'} } from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { createGateway } from 'sluice';
import { silentSinks } from 'sluice/testing';

test('${name} sets the header', async (context) => {
  const backend = createServer((request, response) => {
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify({ received: request.headers['${header.toLowerCase()}'] ?? null }));
  });
  context.after(() => backend.close());
  await once(backend.listen(0, '127.0.0.1'), 'listening');
  const { port } = backend.address() as AddressInfo;

  const configuration = {
    version: 3 as const,
    host: [\`http://127.0.0.1:\${port}\`],
    plugin: { folder: \`\${import.meta.dirname}/\`, pattern: '${word}.ts' },${at('service', '    ')}
    endpoints: [
      {
        endpoint: '/',${at('endpoint', '        ')}
        backend: [
          ${backend}
        ],
      },
    ],
  };
  const gateway = await createGateway(configuration, { sinks: silentSinks });
  context.after(() => gateway.close());

  const { ${changesRequest ? 'body' : 'body, headers'} } = await gateway.inject('/');
${shown}
});
`;
}
