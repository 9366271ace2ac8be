/** What a new plugin is to be. */
export type Kind = keyof typeof skeletons;

/** A plugin and its test, as text. `name` is the namespace, `word` its last segment. */
interface Skeleton {
  readonly plugin: (name: string, word: string) => string;
  readonly test: (name: string, word: string) => string;
  /** What to write in a configuration to use it. */
  readonly usage: (name: string, word: string) => string;
}

const testHead = (word: string) => `import { equal } from 'node:assert/strict';
import { test } from 'node:test';
import { openHarness } from 'sluice/testing';
import { plugin } from './${word}.ts';
`;

const inExtraConfig = (name: string) => `"extra_config": { "${name}": {} }`;

export const skeletons = {
  endpoint: {
    plugin: (name) => `import { after, atEndpoint, definePlugin } from 'sluice/plugin';

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
        properties: { value: { type: 'string', minLength: 1, description: 'Value of X-Plugin.' } },
      },
      ({ config }) => ({
        endpoint: after((reply) => {
          reply.headers.set('X-Plugin', config.value);
        }),
      }),
    ),
  ],
});
`,
    test: (name, word) => `${testHead(word)}
test('${name} sets the header', async () => {
  const gate = await openHarness(plugin, 'endpoint', { value: 'hello' });
  equal((await gate.send('GET /')).headers.get('x-plugin'), 'hello');
  await gate.close();
});
`,
    usage: (name) => `in an endpoint: "extra_config": { "${name}": { "value": "hello" } }`,
  },
  backend: {
    plugin: (name) => `import { atBackend, before, definePlugin } from 'sluice/plugin';

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
        properties: { value: { type: 'string', minLength: 1, description: 'Value of X-Plugin.' } },
      },
      ({ config }) => ({
        sets: ['X-Plugin'],
        backend: before((request) => {
          request.headers.set('X-Plugin', config.value);
        }),
      }),
    ),
  ],
});
`,
    test: (name, word) => `import { equal } from 'node:assert/strict';
import { test } from 'node:test';
import { Reply } from 'sluice/plugin';
import { openHarness } from 'sluice/testing';
import { plugin } from './${word}.ts';

test('${name} sets the header', async () => {
  let sent: string | undefined;
  const gate = await openHarness(plugin, 'backend', { value: 'hello' }, {
    next: (request) => {
      sent = request.headers.get('x-plugin');
      return Reply.data({});
    },
  });
  await gate.send('GET /');
  equal(sent, 'hello');
  await gate.close();
});
`,
    usage: (name) => `in a backend: "extra_config": { "${name}": { "value": "hello" } }`,
  },
  service: {
    plugin: (name) => `import { atService, definePlugin } from 'sluice/plugin';

export const plugin = definePlugin({
  name: '${name}',
  contract: 1,
  description: 'Sets a header on every answer, refusals included.',
  places: [
    atService(
      {
        type: 'object',
        examples: [{}],
        properties: { value: { type: 'string', description: 'Value of X-Plugin.', default: 'hello' } },
      },
      ({ config }) => ({
        head: (head) => {
          head.headers.set('X-Plugin', config.value);
        },
      }),
    ),
  ],
});
`,
    test: (name, word) => `import { equal } from 'node:assert/strict';
import { test } from 'node:test';
import { openHarness } from 'sluice/testing';
import { plugin } from './${word}.ts';

test('${name} sees the head of answers', async () => {
  const gate = await openHarness(plugin, 'service', {});
  equal(typeof gate.attached.head, 'function');
  await gate.close();
});
`,
    usage: (name) => `at the root: ${inExtraConfig(name)}`,
  },
  encoding: {
    plugin: (_name, word) => `import { definePlugin, isObject } from 'sluice/plugin';

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
    test: (_name, word) => `import { deepEqual, equal } from 'node:assert/strict';
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
    usage: (_name, word) => `in a backend: "encoding": "${word}", in an endpoint: "output_encoding": "${word}"`,
  },
  protocol: {
    plugin: (name, word) => `import { atBackend, definePlugin, Reply } from 'sluice/plugin';

export const plugin = definePlugin({
  name: '${name}',
  contract: 1,
  description: 'Returns the request path instead of calling a server.',
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
    test: (name, word) => `import { deepEqual } from 'node:assert/strict';
import { test } from 'node:test';
import { openHarness } from 'sluice/testing';
import { plugin } from './${word}.ts';

test('${name} answers', async () => {
  const gate = await openHarness(plugin, 'backend', {});
  deepEqual(Object.keys((await gate.send('GET /')).data ?? {}), ['target']);
  await gate.close();
});
`,
    usage: (name) => `in a backend: ${inExtraConfig(name)}`,
  },
  discovery: {
    plugin: (_name, word) => `import { definePlugin } from 'sluice/plugin';

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
    test: (_name, word) => `import { deepEqual } from 'node:assert/strict';
import { test } from 'node:test';
import { plugin } from './${word}.ts';

test('${word} takes what the variable says', () => {
  process.env['A_B_ADDRESSES'] = 'http://10.0.0.1:8001,http://10.0.0.2:8001';
  const [discovery] = plugin.discoveries!;
  const site = { backend: { host: ['http://a.b', 'http://c'] } } as never;
  deepEqual(discovery!.open(site).current, ['http://10.0.0.1:8001', 'http://10.0.0.2:8001', 'http://c']);
});
`,
    usage: (_name, word) => `in a backend: "sd": "${word}"`,
  },
  agent: {
    plugin: (name) => `import { atAgent, definePlugin } from 'sluice/plugin';

export const plugin = definePlugin({
  name: '${name}',
  contract: 1,
  description: 'Runs the pipe of its agent at intervals.',
  places: [
    atAgent(
      {
        type: 'object',
        examples: [{ every: '10s' }],
        required: ['every'],
        properties: { every: { type: 'duration', description: 'Time between two runs.', examples: ['10s'] } },
      },
      ({ config, start, run, log }) => {
        start(async (signal) => {
          while (!signal.aborted) {
            const reply = await run({ body: Buffer.from('{}') }, signal);
            if (reply.errors.length > 0) log.warning(\`the run failed: \${reply.errors[0]!.message}\`);
            await new Promise<void>((resolve) => {
              const timer = setTimeout(resolve, config.every);
              signal.addEventListener('abort', () => {
                clearTimeout(timer);
                resolve();
              }, { once: true });
            });
          }
        });
      },
    ),
  ],
});
`,
    test: (name, word) => `import { ok } from 'node:assert/strict';
import { test } from 'node:test';
import { Reply } from 'sluice/plugin';
import { openHarness } from 'sluice/testing';
import { plugin } from './${word}.ts';

test('${name} runs its pipe', async () => {
  const { promise: ran, resolve } = Promise.withResolvers<boolean>();
  const gate = await openHarness(plugin, 'agent', { every: '1s' }, {
    next: () => {
      resolve(true);
      return Reply.data({});
    },
  });
  ok(await ran);
  await gate.close();
});
`,
    usage: (name) => `in an entry of "async_agent": "extra_config": { "${name}": { "every": "10s" } }`,
  },
} as const satisfies Readonly<Record<string, Skeleton>>;
