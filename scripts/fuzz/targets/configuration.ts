import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { ConfigErrors } from '../../../kernel/contract/internal.ts';
import { createGateway } from '../../../kernel/sluice.ts';
import { silentSinks } from '../../../kernel/testing/index.ts';
import { applyChange, type Change, changes } from '../changes.ts';
import { defineTarget } from '../target.ts';

type Tree = Record<string, unknown>;

const seeds = ['quickstart', 'reshaping', 'traffic', 'filters', 'access'].map((name) => {
  const file = fileURLToPath(new URL(`../../../samples/${name}/gateway.json`, import.meta.url));
  return JSON.parse(readFileSync(file, 'utf8')) as Tree;
});

/** Whole configurations, each changed in a few places. */
export const configuration = defineTarget({
  name: 'configuration',
  law: 'A configuration is refused by ConfigErrors that name a place, or builds, answers one request an endpoint, and closes.',
  boundMs: 2_000,
  inputs: fc.record({
    seed: fc.nat({ max: seeds.length - 1 }),
    changes: fc.array(changes, { minLength: 1, maxLength: 3 }),
  }),
  async open() {
    return { accept, async close() {} };
  },
});

type Input = { seed: number; changes: readonly Change[] };

async function accept({ seed, changes: list }: Input): Promise<void> {
  const config = structuredClone(seeds[seed % seeds.length]!);
  for (const change of list) applyChange(config, change);
  // No backend is called that another program may have.
  const isolated = JSON.parse(
    JSON.stringify(config, (key, value) => (key === 'host' && value ? ['http://127.0.0.1:9'] : value)),
  );
  let gateway: Awaited<ReturnType<typeof createGateway>>;
  try {
    gateway = await createGateway({ ...isolated, port: 0 }, { sinks: silentSinks });
  } catch (error) {
    if (!(error instanceof ConfigErrors)) throw error;
    if (error.errors.length === 0) throw new Error('refused without a reason', { cause: error });
    return;
  }
  try {
    for (const { method, endpoint } of gateway.config.endpoints.slice(0, 5)) {
      const { statusCode } = await gateway.inject({ method: method as 'GET', url: endpoint.replace(/[{}*]/g, 'a') });
      if (statusCode < 200 || statusCode > 599) throw new Error(`answers ${statusCode}`);
    }
  } finally {
    await gateway.close();
  }
}
