import { deepEqual } from 'node:assert/strict';
import { globSync } from 'node:fs';
import { sluice } from '../kernel/cli/command.ts';
import { setEnvironment } from '../support/environment.ts';
import { variables } from './variables.ts';

/** Files of samples that no gateway serves alone, with the reason. */
const others: Readonly<Record<string, string>> = {
  'samples/flexible-config/flexible_config.json': 'settings of a template',
  'samples/mutual-tls/backend.json': 'its certificates are created by the guide',
  'samples/mutual-tls/gateway.json': 'its certificates are created by the guide',
  'samples/telemetry/dashboard.json': 'a dashboard',
  'samples/tokens/keys.json': 'keys',
};

/** Number of samples that are attacked at the same time: an attack waits for timeouts. */
const TOGETHER = 6;

interface Report {
  readonly findings: readonly { readonly attack: string; readonly endpoint: string; readonly shown: string }[];
}

describe('an attack on', function () {
  this.timeout(300_000);
  const files = globSync('samples/*/*.json')
    .filter((file) => !Object.hasOwn(others, file))
    .sort();
  const reports = new Map<string, Report>();
  let restore: () => void;

  before(async () => {
    restore = setEnvironment(variables);
    const left = [...files];
    const work = async () => {
      for (let file = left.shift(); file !== undefined; file = left.shift()) {
        const { out, err } = await sluice('attack', file, '--seed', '1', '--format', 'json');
        reports.set(
          file,
          out === '' ? { findings: [{ attack: 'none', endpoint: file, shown: err }] } : JSON.parse(out),
        );
      }
    };
    await Promise.all(Array.from({ length: TOGETHER }, work));
  });
  after(() => restore());

  for (const file of files) {
    it(`finds no weakness in ${file}`, () => {
      deepEqual(
        reports.get(file)!.findings.map(({ attack, endpoint, shown }) => `${attack} ${endpoint}: ${shown}`),
        [],
      );
    });
  }
});
