import type { Level, Plugin, Reply, ServiceConfig } from '#contract';
import { type Harness, type HarnessOptions, openHarness, type TestRequest } from '../../kernel/testing/index.ts';
import { testService } from '../../kernel/testing/test-config.ts';
import { backends } from '../../scripts/docs/examples.ts';
import { exampleOffers } from './example-offers.ts';
import { pipePlugins } from './pipe-plugins.ts';
import { severalBackends } from './several-backends.ts';

/** Results of a plugin in a configuration, and in another one in which all values that it has not read are different. */
export interface Compared {
  readonly before: readonly unknown[];
  /** Result of the plugin in the first configuration, after it was also attached in the other one. */
  readonly outliving: readonly unknown[];
  /** Result of the plugin in the other configuration. */
  readonly after: readonly unknown[];
}

const requests: readonly TestRequest[] = [
  'GET /',
  { method: 'POST', headers: { 'Content-Type': 'application/json', 'X-Api-Key': 'a' }, body: '{"name":"Ada"}' },
  { method: 'POST', headers: { Host: 'api.example.com' }, body: 'no JSON' },
];

/** Attaches a plugin in two configurations that differ in everything that it has not read. */
export async function underUnrelatedChanges(plugin: Plugin, at: Level, config: unknown): Promise<Compared> {
  // Advances the clock so far that no rate limit remembers earlier requests.
  const clock = { time: 0, now: () => clock.time };
  const answersOf = async (gate: Harness) => {
    clock.time += 86_400_000;
    const responses: unknown[] = [];
    for (const request of requests) responses.push(shown(await gate.send(request)));
    return responses;
  };
  const around: HarnessOptions = {
    endpoint: { method: 'POST', ...severalBackends(plugin.name) },
    services: { clock },
    offers: await exampleOffers(plugin),
    plugins: pipePlugins(plugin, at),
    ...(backends[plugin.name] && { backend: backends[plugin.name] }),
  };
  const first = await openHarness(plugin, at, config, around);
  // Ignores later reads, because the plugin was attached with the values that it had read by then.
  const { settings } = first.reads;
  const before = await answersOf(first);
  const second = await openHarness(plugin, at, config, { ...around, service: allOthers(settings) });
  const compared = { before, outliving: await answersOf(first), after: await answersOf(second) };
  await second.close();
  await first.close();
  return compared;
}

/** A service in which every field, except the given ones, has another value. */
function allOthers(kept: readonly string[]): Partial<ServiceConfig> {
  const own = ['$schema', 'version', 'endpoints', 'extra_config', ...kept];
  const fields = Object.entries(testService()).filter(([name]) => !own.includes(name));
  return Object.fromEntries(fields.map(([name, value]) => [name, another(value)]));
}

function another(value: unknown): unknown {
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'string') return `${value}x`;
  return value;
}

function shown({ status, headers, data, body, complete, errors }: Reply): unknown {
  const bytes = body instanceof Uint8Array ? Buffer.from(body).toString() : body;
  return {
    status,
    headers: [...headers],
    data,
    bytes,
    complete,
    errors: errors.map(({ code, message }) => [code, message]),
  };
}
