import type { Catalogue, Clock, Plugin, Services } from '#contract';
import { DeniedAddresses, silentEvents, silentLog, silentSinks } from '../contract/internal.ts';
import { createPatterns } from '../patterns/patterns.ts';
import { Registry } from '../registry/registry.ts';
import type { BuildContext, Question } from '../runtime/build/config-build.ts';
import { Mirrors } from '../runtime/kept/mirrors.ts';
import { RefCountedCache } from '../runtime/kept/ref-counted-cache.ts';
import type { Harness, HarnessOptions } from './harness-options.ts';
import { replyOk } from './send.ts';
import { testHttp } from './test-http.ts';

/** Shared by all harnesses, so that expressions are compiled once. */
const patterns = createPatterns();

const systemClock: Clock = { now: () => performance.now() };

/** Requests a shared value from another harness. */
export type AskOwner = (owner: Harness, id: string, question: Question) => Promise<Question>;

/** Build context of the plugin's configuration, as long as the harness is open. */
export function testContext(plugin: Plugin, around: HarnessOptions, ask: AskOwner): BuildContext {
  const { plugins = [], services, role, owner } = around;
  const http = plugin.http ? plugin : testHttp(around.next ?? replyOk);
  const catalogue: Catalogue = {
    plugins: Object.fromEntries([http, plugin, ...plugins].map((each) => [each.name, async () => ({ plugin: each })])),
    order: { middleware: [], request: [], endpoint: [], proxy: [], backend: [], transport: [] },
    defaultProtocol: http.name,
  };
  const registry = new Registry(catalogue, {
    clock: systemClock,
    log: silentLog,
    sinks: silentSinks,
    events: silentEvents,
    patterns,
    denied: new DeniedAddresses(),
    readiness: { isDraining: false },
    version: '0.0.0',
    sandbox: null,
    ...services,
  } as Services);
  return {
    registry,
    cache: new RefCountedCache(),
    mirrors: new Mirrors(),
    // Errors are thrown instead of contained, because the author of the plugin must see them.
    containment: null,
    role: role ?? (owner ? 'worker' : 'alone'),
    ...(owner && { ask: (_revision, id, question) => ask(owner, id, question) }),
  };
}
