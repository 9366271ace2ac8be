import type { Skeletons } from '#contract';

/** Skeleton of an agent driver. */
export const agentSkeletons = {
  agent: {
    plugin: ({ name }) => `import { atAgent, definePlugin } from 'sluice/plugin';

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
    test: ({ name, word }) => `import { ok } from 'node:assert/strict';
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
    usage: ({ name }) => `in an entry of "async_agent": "extra_config": { "${name}": { "every": "10s" } }`,
  },
} as const satisfies Skeletons;
