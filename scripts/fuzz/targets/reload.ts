import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import type { Operations } from '#kernel';
import { ConfigErrors } from '../../../kernel/contract/internal.ts';
import { ConfigText } from '../../../kernel/control/snapshot.ts';
import { createGateway } from '../../../kernel/sluice.ts';
import { silentSinks } from '../../../kernel/testing/index.ts';
import { freePort } from '../../free-port.ts';
import { ask } from '../ask.ts';
import { eventually } from '../eventually.ts';
import { defineTarget, type OpenTarget } from '../target.ts';

/** Content of a configuration in addition to its two endpoints. */
const kinds = ['plain', 'limited', 'cached', 'plugged', 'refused', 'malformed'] as const;

interface Step {
  readonly act:
    | 'save'
    | 'apply'
    | 'guarded'
    | 'dry'
    | 'rollback'
    | 'plugin'
    | 'breakPlugin'
    | 'hold'
    | 'release'
    | 'twice';
  readonly kind: (typeof kinds)[number];
  /** Index of one of two ports. */
  readonly port: number;
}

/** Changes of the serving configuration, and concurrent activity. */
export const reload = defineTarget<readonly Step[]>({
  name: 'reload',
  law: 'After every change the last accepted configuration serves, no request is lost, and closing leaves nothing behind.',
  boundMs: 5_000,
  rooms: ['kernel/control/', 'kernel/runtime/', 'kernel/workers/'],
  inputs: fc.array(
    fc.record<Step>({
      act: fc.constantFrom(
        'save',
        'save',
        'apply',
        'guarded',
        'dry',
        'rollback',
        'plugin',
        'breakPlugin',
        'hold',
        'hold',
        'release',
        'twice',
      ),
      kind: fc.constantFrom(...kinds),
      port: fc.nat({ max: 1 }),
    }),
    { minLength: 1, maxLength: 12 },
  ),
  open,
});

/** Maximum time to wait for a held request, which lasts until its release, in milliseconds. */
const HELD_MS = 60_000;

async function open(): Promise<OpenTarget<readonly Step[]>> {
  const ports = [await freePort(), await freePort()];
  const held = new Set<ServerResponse>();
  const backend = createServer((request, response) => {
    response.setHeader('content-type', 'application/json');
    if (request.url === '/held') held.add(response);
    else response.end('{"ok":1}');
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => backend.once('listening', resolve));
  const host = `http://127.0.0.1:${(backend.address() as AddressInfo).port}`;
  let isWarm = false;
  return {
    async accept(steps) {
      // Resources that are loaded once remain open.
      if (!isWarm) await runSteps([{ act: 'save', kind: 'plugged', port: 1 }], { ports, held, host });
      isWarm = true;
      const before = openThings();
      await runSteps(steps, { ports, held, host });
      await eventually(
        () => openThings() <= before,
        () => `leaves ${openThings() - before} descriptors`,
      );
    },
    async close() {
      backend.closeAllConnections();
      backend.close();
    },
  };
}

interface Stage {
  readonly ports: readonly number[];
  readonly held: Set<ServerResponse>;
  readonly host: string;
}

async function runSteps(steps: readonly Step[], { ports, held, host }: Stage): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-fuzz-'));
  const file = join(folder, 'gateway.json');
  const textOf = (mark: string, kind: Step['kind'], port: number) =>
    written({ mark, kind, port: ports[port]!, host, folder });
  writePlugin(folder, true);
  writeFileSync(file, textOf('start', 'plain', 0));
  const gateway = (await createGateway(file, { sinks: silentSinks })) as Operations;
  await gateway.listen();
  /** Configuration that must serve, and its port. */
  let served = { mark: 'start', port: 0 };
  let isPluginGood = true;
  const waiting: Promise<{ status: number; body: string }>[] = [];
  const release = () => {
    for (const response of held) response.end('{"held":1}');
    held.clear();
  };
  const change = async (mark: string, { act, kind, port }: Step): Promise<void> => {
    const text = textOf(mark, kind, port);
    const isGood = kind !== 'refused' && kind !== 'malformed' && (kind !== 'plugged' || isPluginGood);
    if (act === 'save' || act === 'twice') writeFileSync(file, text);
    const source = act === 'save' || act === 'twice' ? file : new ConfigText(text, 'json');
    const applied = gateway.apply({
      trigger: 'api',
      source,
      dryRun: act === 'dry',
      ...(act === 'guarded' && { guard: { durationMs: 20 } }),
    });
    const second = act === 'twice' ? gateway.reload(file) : applied;
    const results = await Promise.allSettled([applied, second]);
    for (const result of results) {
      if (result.status === 'rejected' && !(result.reason instanceof ConfigErrors)) throw result.reason;
      if ((result.status === 'fulfilled') !== isGood)
        throw new Error(
          `${act} of a ${kind} configuration is ${isGood ? 'refused' : 'accepted'}: ${String((result as PromiseRejectedResult).reason)}`,
        );
    }
    if (isGood && act !== 'dry') served = { mark, port };
  };
  try {
    for (const [at, step] of steps.entries()) {
      if (step.act === 'hold') {
        const asked = held.size + 1;
        waiting.push(ask(`127.0.0.1:${ports[served.port]}`, { method: 'GET', target: '/held', headers: {} }, HELD_MS));
        await eventually(
          () => held.size === asked,
          () => 'a request does not reach its backend',
        );
      } else if (step.act === 'release') {
        release();
        for (const { status, body } of await Promise.all(waiting.splice(0))) mustBeAnswered(status, body);
      } else if (step.act === 'plugin' || step.act === 'breakPlugin') {
        isPluginGood = step.act === 'plugin';
        writePlugin(folder, isPluginGood);
      } else if (step.act === 'rollback') {
        const revision = await gateway.revisions.get(1);
        if (revision === undefined || revision === 'pruned') throw new Error('the first revision is not kept');
        await gateway.apply({ trigger: 'rollback', source: new ConfigText(revision.text, revision.format) });
        served = { mark: 'start', port: 0 };
      } else await change(`m${at}`, step);
      const { status, body } = await ask(`127.0.0.1:${ports[served.port]}`, {
        method: 'GET',
        target: '/who',
        headers: {},
      });
      if (status !== 200 || !body.includes(`"${served.mark}"`))
        throw new Error(`step ${at} (${step.act}): ${status} ${body} instead of "${served.mark}"`);
      await eventually(
        () => gateway.status.calls === held.size,
        () => `${gateway.status.calls} calls in flight, not ${held.size}`,
      );
    }
    release();
    for (const { status, body } of await Promise.all(waiting)) mustBeAnswered(status, body);
    await eventually(
      () => gateway.status.calls + gateway.status.draining === 0,
      () => `${gateway.status.draining} configurations stay`,
    );
  } finally {
    release();
    await Promise.allSettled(waiting);
    await gateway.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function mustBeAnswered(status: number, body: string): void {
  if (status !== 200 || body !== '{"held":1}') throw new Error(`a request in flight is answered ${status} ${body}`);
}

interface Written {
  readonly mark: string;
  readonly kind: Step['kind'];
  readonly port: number;
  readonly host: string;
  readonly folder: string;
}

function written({ mark, kind, port, host, folder }: Written): string {
  if (kind === 'malformed') return '{"version": 3,';
  const marked = { proxy: { static: { strategy: 'always', data: { mark } } } };
  const own = {
    limited: { 'qos/ratelimit/router': { max_rate: 1e6 } },
    plugged: { 'plugin/middleware': { name: ['team'] } },
    refused: { 'modifier/jmespath': { expr: '[' } },
  }[kind as string];
  const cached = kind === 'cached' && { extra_config: { 'qos/http-cache': {} } };
  return JSON.stringify({
    version: 3,
    port,
    listen_ip: '127.0.0.1',
    timeout: '30s',
    host: [host],
    ...(kind === 'plugged' && { plugin: { folder } }),
    endpoints: [
      { endpoint: '/who', extra_config: { ...marked, ...own }, backend: [{ url_pattern: '/', ...cached }] },
      { endpoint: '/held', backend: [{ url_pattern: '/held' }] },
    ],
  });
}

/** Writes the plugin of `plugged` configurations, or an invalid file. */
function writePlugin(folder: string, isGood: boolean): void {
  const good = `export const plugin = { name: 'team', apiVersion: 1, middleware: () => (ctx, request, next) => next(request) };`;
  writeFileSync(join(folder, 'team.js'), isGood ? `${good}\n` : 'export const plugin = {\n');
}

/** Number of open descriptors of this process. */
function openThings(): number {
  return readdirSync('/proc/self/fd').length;
}
