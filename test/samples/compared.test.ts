import { equal } from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import type { Data } from '#contract';
import type { Operations } from '#kernel';
import { CanonicalSession, compareGateways, OtherGateway, planCompat, ServedMocks } from '../../kernel/cases/index.ts';
import { withTools } from '../../kernel/cli/tools.ts';
import { servedBy } from '../../kernel/inspect/index.ts';
import { catalogue } from '../../plugins/index.ts';
import { budgetSeed, sampler } from '../support/budget.ts';
import { freePort } from '../support/conditions.ts';
import { setEnvironment } from '../support/environment.ts';
import { startGateway } from '../support/gateway.ts';
import { variables } from './variables.ts';

/** Samples that cannot be compared, with the reason. */
const others: Readonly<Record<string, string>> = {
  'canary/gateway.json': 'chooses backends at random',
  'load-balancers/socket.json': 'a backend that receives the PROXY protocol',
  'mutual-tls/backend.json': 'certificates that its guide creates',
  'mutual-tls/gateway.json': 'certificates that its guide creates',
  'packages/project/gateway.json': 'a package that its guide installs',
  'secrets/gateway.json': 'a store of secrets',
  'traffic/gateway.json': 'limits and breakers that depend on time',
};

const files = globSync('samples/*/*.json')
  .filter((file) => /"endpoints":/.test(readFileSync(file, 'utf8')))
  .filter((file) => !Object.hasOwn(others, file.slice('samples/'.length)))
  .sort();

const isChosen = sampler(4);

/** Replaces the ports that the telemetry of samples opens, which other suites open at the same time. */
async function withFreePorts(config: unknown): Promise<object> {
  const [metrics, statistics] = [await freePort(), await freePort()];
  const text = JSON.stringify(config).replace('"port":9091', `"port":${metrics}`).replace(':8090', `:${statistics}`);
  return JSON.parse(text);
}

describe(`the comparison of a sample with a gateway that has the same configuration (seed ${budgetSeed})`, function () {
  this.timeout(60_000);

  let restore: () => void;
  before(() => {
    restore = setEnvironment(variables);
  });
  after(() => restore());

  for (const file of files.filter(isChosen)) {
    it(`finds no difference for ${file}`, async () => {
      const plan = await withTools({ catalogue }, async (tools) => {
        const { document, config, compiled, registry, origin, errors } = await tools.examineFile(file, true);
        equal(errors.join('\n'), '');
        const served = await servedBy(config, compiled);
        const sources = { tests: [], recordings: [], documents: [] };
        return planCompat({ data: document.data as Data, served, registry, origin, sources, seed: 1 });
      });
      // Skips requests that take as long as the timeout of their endpoint.
      const cases = plan.cases.filter(({ name }) => name !== 'backend never responds');
      const { documents, origins, source } = plan;
      const binding = { host: '127.0.0.1', port: 0, advertised: '127.0.0.1' };
      const mocks = await ServedMocks.open(origins.all, binding, new CanonicalSession(documents, origins));
      let gateway: Operations | undefined;
      try {
        const other = await withFreePorts(plan.other(mocks.addresses, new URL('http://127.0.0.1')));
        gateway = await startGateway({ ...other, port: 0 });
        const { port } = await gateway.listen();
        const url = new URL(`http://127.0.0.1:${port}`);
        const { signal } = new AbortController();
        const { changes } = await compareGateways({
          catalogue,
          source,
          cases,
          documents,
          origins,
          mocks,
          other: new OtherGateway(url, 10_000, signal),
          host: url.host,
          ignored: [],
          timeoutMs: 10_000,
          signal,
        });
        equal(changes.map(({ key, shown }) => `${key}: ${shown}`).join('\n'), '');
      } finally {
        await gateway?.close();
        await mocks.close();
      }
    });
  }
});
