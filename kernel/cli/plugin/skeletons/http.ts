import type { Skeletons } from '#contract';
import { inExtraConfig } from './naming.ts';

/** Skeletons of plugins that change requests and responses over HTTP. */
export const httpSkeletons = {
  endpoint: {
    plugin: ({ name, header }) => `import { after, atEndpoint, definePlugin } from 'sluice/plugin';

export const plugin = definePlugin({
  name: '${name}',
  contract: 1,
  description: 'Sets a header on the responses of an endpoint.',
  places: [
    atEndpoint(
      {
        type: 'object',
        examples: [{ value: 'hello' }],
        required: ['value'],
        properties: { value: { type: 'string', minLength: 1, description: 'Value of ${header}.' } },
      },
      ({ config }) => ({
        endpoint: after((reply) => {
          reply.headers.set('${header}', config.value);
        }),
      }),
    ),
  ],
});
`,
    test: ({ name, header, word }) => `import { equal } from 'node:assert/strict';
import { test } from 'node:test';
import { openHarness } from 'sluice/testing';
import { plugin } from './${word}.ts';

test('${name} sets the header', async () => {
  const gate = await openHarness(plugin, 'endpoint', { value: 'hello' });
  equal((await gate.send('GET /')).headers.get('${header.toLowerCase()}'), 'hello');
  await gate.close();
});
`,
    usage: ({ name }) => `in an endpoint: "extra_config": { "${name}": { "value": "hello" } }`,
  },
  backend: {
    plugin: ({ name, header }) => `import { atBackend, before, definePlugin } from 'sluice/plugin';

export const plugin = definePlugin({
  name: '${name}',
  contract: 1,
  description: 'Sets a header on the requests to a backend.',
  places: [
    atBackend(
      {
        type: 'object',
        examples: [{ value: 'hello' }],
        required: ['value'],
        properties: { value: { type: 'string', minLength: 1, description: 'Value of ${header}.' } },
      },
      ({ config }) => ({
        sets: ['${header}'],
        backend: before((request) => {
          request.headers.set('${header}', config.value);
        }),
      }),
    ),
  ],
});
`,
    test: ({ name, header, word }) => `import { equal } from 'node:assert/strict';
import { test } from 'node:test';
import { Reply } from 'sluice/plugin';
import { openHarness } from 'sluice/testing';
import { plugin } from './${word}.ts';

test('${name} sets the header', async () => {
  let sent: string | undefined;
  const gate = await openHarness(plugin, 'backend', { value: 'hello' }, {
    next: (request) => {
      sent = request.headers.get('${header.toLowerCase()}');
      return Reply.data({});
    },
  });
  await gate.send('GET /');
  equal(sent, 'hello');
  await gate.close();
});
`,
    usage: ({ name }) => `in a backend: "extra_config": { "${name}": { "value": "hello" } }`,
  },
  service: {
    plugin: ({ name, header }) => `import { atService, definePlugin } from 'sluice/plugin';

export const plugin = definePlugin({
  name: '${name}',
  contract: 1,
  description: 'Sets a header on every response, including rejections.',
  places: [
    atService(
      {
        type: 'object',
        examples: [{}],
        properties: { value: { type: 'string', description: 'Value of ${header}.', default: 'hello' } },
      },
      ({ config }) => ({
        head: (head) => {
          head.headers.set('${header}', config.value);
        },
      }),
    ),
  ],
});
`,
    test: ({ name, word }) => `import { equal } from 'node:assert/strict';
import { test } from 'node:test';
import { openHarness } from 'sluice/testing';
import { plugin } from './${word}.ts';

test('${name} sees the head of answers', async () => {
  const gate = await openHarness(plugin, 'service', {});
  equal(typeof gate.attached.head, 'function');
  await gate.close();
});
`,
    usage: ({ name }) => `at the root: ${inExtraConfig(name)}`,
  },
} as const satisfies Skeletons;
