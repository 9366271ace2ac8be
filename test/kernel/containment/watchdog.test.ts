import { equal, match, ok } from 'node:assert/strict';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { atEndpoint, Call, definePlugin, type LogMessage, makeRequest, Reply } from '#contract';
import type { Operations } from '#kernel';
import { containedAttachment } from '../../../kernel/containment/contained-attachment.ts';
import { Containment } from '../../../kernel/containment/containment.ts';
import { enterDebugger, leaveDebugger } from '../../../kernel/containment/debugger-lock.ts';
import { HOOK, marks } from '../../../kernel/containment/marks.ts';
import { PlaceGuards } from '../../../kernel/containment/place-guards.ts';
import { silentEvents, silentLog } from '../../../kernel/contract/internal.ts';
import { until } from '../../support/conditions.ts';
import { rememberingSinks } from '../../support/gateway.ts';
import { misbehaving, spin } from '../../support/misbehaving.ts';
import { startWith } from '../../support/plugged.ts';

/** A plugin that blocks the event loop within a hook of another plugin. */
const holding = definePlugin({
  name: 'test/holding',
  description: 'Holds the event loop.',
  places: [
    atEndpoint({ type: 'object', properties: {} }, () => ({
      proxy: () => () => {
        const end = performance.now() + 1200;
        while (performance.now() < end);
        return Reply.data(null);
      },
    })),
  ],
});

describe('a blocked event loop in a process with plugins from files', function () {
  this.timeout(180_000);
  let gateway: Operations;
  let lines: readonly string[];

  beforeEach(async () => {
    const sinks = rememberingSinks();
    lines = sinks.lines;
    gateway = await startWith(
      [misbehaving, holding],
      {
        host: ['http://127.0.0.1:9'],
        endpoints: [
          {
            endpoint: '/a',
            input_query_strings: ['*'],
            extra_config: { 'test/misbehaving': {}, 'test/holding': {} },
            backend: [{ url_pattern: '/' }],
          },
        ],
      },
      { sinks },
    );
    // A first report shows that the watching thread runs.
    await until(async () => {
      await gateway.inject('/a?act=block&ms=60');
      return blocking().count > 0;
    });
  });
  afterEach(() => gateway.close());

  const blocking = () => gateway.containment.records[0]!.blocking;
  const reports = (): string[] => lines.filter((line) => line.includes('blocked the event loop'));

  it('is reported with the hook that blocks it for more than 50 ms', async () => {
    match(
      reports()[0]!,
      /WARNING: \[PLUGIN: test\/misbehaving\] hook "endpoint" of GET \/a blocked the event loop for \d+ ms/,
    );
  });

  it('is reported with the source line that blocks it for more than 100 ms', async () => {
    // Repeats the request until a blockage is reported, because the watching thread can be late on a busy machine.
    await until(async () => {
      await gateway.inject('/a?act=block&ms=600');
      return (
        reports().some((line) =>
          /hook "endpoint" of GET \/a blocked the event loop for \d{3,} ms at .*misbehaving\.ts:\d+:\d+/.test(line),
        ) &&
        blocking()
          .ranges.slice(3)
          .some((count) => count > 0)
      );
    });
  });

  it('is reported without a line while the event loop itself is inspecting a thread', async () => {
    equal(await enterDebugger(5000), true);
    // On a busy machine, the first report can include a line, because its blockage was longer.
    const earlier = reports().length;
    try {
      await until(async () => {
        await gateway.inject('/a?act=block&ms=600');
        return blocking().longestMs >= 500;
      });
      ok(
        !reports()
          .slice(earlier)
          .some((line) => line.includes('misbehaving.ts')),
      );
    } finally {
      leaveDebugger();
    }
  });

  it('is reported even if the plugin had waited before', async () => {
    await until(async () => {
      await gateway.inject('/a?act=await&ms=2000');
      return reports().some((line) =>
        /\[PLUGIN: test\/misbehaving\] blocked the event loop for \d{4} ms at .*misbehaving\.ts:\d+:\d+/.test(line),
      );
    });
  });

  it('is not attributed to a plugin that called the code that blocks', async () => {
    await gateway.inject('/a?act=next');
    // Reports are made in order, so a later one shows that no report about the first request follows.
    await until(async () => {
      await gateway.inject('/a?act=block&ms=300');
      return blocking().longestMs >= 200;
    });
    ok(blocking().longestMs < 1000, String(blocking().longestMs));
  });

  it('counts as time of the hook, like shorter runs of its code, without the code that the hook calls', async () => {
    const busyMs = () => gateway.containment.records[0]!.hooks.find(({ hook }) => hook === 'endpoint')?.busyMs ?? 0;
    await gateway.inject('/a?act=next');
    let spent = 60;
    await until(async () => {
      await gateway.inject('/a?act=block&ms=20');
      spent += 20;
      return spent >= 400 && busyMs() >= 100;
    });
    ok(busyMs() < 1000 + spent, `${busyMs()} of ${spent} ms`);
  });

  it('is not attributed to a hook after it has waited, when other code may run', async () => {
    const containment = new Containment({ log: silentLog, events: silentEvents });
    const source = { file: '/plugin.ts', hash: 'one', files: ['/plugin.ts'] };
    const guards = new PlaceGuards(
      containment,
      { name: 'acme/a', source },
      undefined,
      { skips: false, suspendAfter: 0 },
      { faults: null },
    );
    const { endpoint } = containedAttachment(
      {
        endpoint:
          (next: (request: object, call: Call) => Reply | Promise<Reply>) => async (request: object, call: Call) => {
            await Promise.resolve();
            return next(request, call);
          },
      } as never as { endpoint: never },
      guards,
    ) as never as { endpoint: (next: object) => (request: object, call: Call) => Promise<Reply> };
    const before = marks[HOOK];
    await endpoint(() => Reply.data(null))(makeRequest({}), new Call());
    equal(marks[HOOK], before);
    await containment.close();
  });
});

describe('a hook that never returns', function () {
  this.timeout(180_000);

  it('is reported with the source line, even if the line of another hook was determined shortly before', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'watchdog-'));
    const reports = openSync(join(folder, 'reports'), 'w+');
    const lines: string[] = [];
    const log = { ...silentLog, warning: (line: LogMessage) => void lines.push(String(line)) };
    const containment = new Containment({ log, events: silentEvents, reports });
    const source = misbehaving.source!;
    const guards = new PlaceGuards(
      containment,
      { name: 'test/misbehaving', source },
      undefined,
      { skips: false, suspendAfter: 0 },
      { faults: null },
    );
    let ms = 200;
    const spinning = () => {
      spin(ms);
      return Reply.data(null);
    };
    const { endpoint } = containedAttachment(
      { endpoint: () => spinning } as never as { endpoint: never },
      guards,
    ) as never as {
      endpoint: (next: object) => (request: object, call: Call) => Promise<Reply>;
    };
    const hold = async (): Promise<void> => {
      await endpoint(() => {})(makeRequest({}), new Call());
      await turn();
    };
    await until(() => hold().then(() => lines.some((line) => line.includes(' at '))));
    ms = 2000;
    const reported = () => readFileSync(join(folder, 'reports'), 'utf8');
    await until(() => hold().then(() => reported() !== ''));
    match(JSON.parse(reported().split('\n')[0]!).place, /misbehaving\.ts:\d+:\d+$/);
    await containment.close();
    closeSync(reports);
    rmSync(folder, { recursive: true });
  });
});
