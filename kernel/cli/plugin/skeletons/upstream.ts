import type { Skeletons } from '#contract';
import { inExtraConfig } from './naming.ts';

/** Skeletons of encoding, protocol and service discovery plugins. */
export const upstreamSkeletons = {
  encoding: {
    plugin: ({ word }) => `import { definePlugin, isObject } from 'sluice/plugin';

export const plugin = definePlugin({
  name: 'encoding/${word}',
  contract: 1,
  description: 'Lines of key=value.',
  encodings: [
    {
      name: '${word}',
      decode(bytes) {
        const lines = Buffer.from(bytes).toString('utf8').split('\\n').filter((line) => line.includes('='));
        return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
      },
      encode(data) {
        const lines = Object.entries(isObject(data) ? data : {}).map(([key, value]) => \`\${key}=\${String(value)}\\n\`);
        return { contentType: 'text/plain; charset=utf-8', body: lines.join('') };
      },
    },
  ],
});
`,
    test: ({ word }) => `import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { plugin } from './${word}.ts';

const [encoding] = plugin.encodings!;

test('${word} is written', () => {
  equal(encoding!.encode!({ a: '1' }, undefined).body, 'a=1\\n');
});

test('${word} is read', () => {
  deepEqual(encoding!.decode!(Buffer.from('a=1\\n'), false), { a: '1' });
});
`,
    usage: ({ word }) => `in a backend: "encoding": "${word}", in an endpoint: "output_encoding": "${word}"`,
  },
  protocol: {
    plugin: ({ name, word }) => `import { atBackend, definePlugin, Reply } from 'sluice/plugin';

export const plugin = definePlugin({
  name: '${name}',
  contract: 1,
  description: 'Answers with the path of the request, instead of a server.',
  hostless: true,
  places: [
    atBackend({ type: 'object', examples: [{}], properties: {} }, () => ({
      protocol: {
        replies: 'data',
        hostless: true,
        schemes: ['${word}'],
        call: (request) => Reply.data({ target: request.target }),
      },
    })),
  ],
});
`,
    test: ({ name, word }) => `import { deepEqual } from 'node:assert/strict';
import { test } from 'node:test';
import { openHarness } from 'sluice/testing';
import { plugin } from './${word}.ts';

test('${name} answers', async () => {
  const gate = await openHarness(plugin, 'backend', {});
  deepEqual(Object.keys((await gate.send('GET /')).data ?? {}), ['target']);
  await gate.close();
});
`,
    usage: ({ name }) => `in a backend: ${inExtraConfig(name)}`,
  },
  discovery: {
    plugin: ({ word }) => `import { definePlugin } from 'sluice/plugin';

export const plugin = definePlugin({
  name: 'discovery/${word}',
  contract: 1,
  description: 'Takes the addresses of a host from a variable of the environment: USERS_ADDRESSES for http://users.',
  discoveries: [
    {
      name: '${word}',
      open({ backend }) {
        const current = backend.host.flatMap((host) => {
          const variable = \`\${new URL(host).hostname.toUpperCase().replaceAll(/\\W/g, '_')}_ADDRESSES\`;
          return (process.env[variable] ?? host).split(',');
        });
        return { current, fixed: true };
      },
    },
  ],
});
`,
    test: ({ word }) => `import { deepEqual } from 'node:assert/strict';
import { test } from 'node:test';
import { plugin } from './${word}.ts';

test('${word} takes what the variable says', () => {
  process.env['A_B_ADDRESSES'] = 'http://10.0.0.1:8001,http://10.0.0.2:8001';
  const [discovery] = plugin.discoveries!;
  const site = { backend: { host: ['http://a.b', 'http://c'] } } as never;
  deepEqual(discovery!.open(site).current, ['http://10.0.0.1:8001', 'http://10.0.0.2:8001', 'http://c']);
});
`,
    usage: ({ word }) => `in a backend: "sd": "${word}"`,
  },
} as const satisfies Skeletons;
