import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { placesFor } from './support/planted/places.ts';
import type { Outcome, Report } from './support/planted/program.ts';

const program = fileURLToPath(new URL('support/planted/program.ts', import.meta.url));

/** Event emitters whose handlers every run must reach, each by a part of the handler's path in the code. */
const worlds: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  http: {
    'a connection over HTTP/1': 'kernel/server/http1/server.ts',
    'a session over HTTP/2': 'kernel/server/http2/server.ts',
    'a body of a client': 'kernel/server/request/client-body.ts',
    'an upgraded connection': 'kernel/server/http1/upgrade.ts',
    'a client of a WebSocket': 'plugins/websocket/peer.ts',
    'a backend of a WebSocket': 'plugins/websocket/dial.ts',
    'a backend over HTTP/1': 'plugins/backend/http/client/',
    'a backend over gRPC': 'plugins/clients/grpc/',
    'a port of a component': 'kernel/runtime/kept/plugin-port.ts',
    'a connection of the admin port': 'admin/server/socket-listener.ts',
    'an exporter of telemetry': 'plugins/telemetry/lib/otlp/http-transport.ts',
    'the timer of a component': 'plugins/telemetry/metrics/index.ts',
    'a file watcher': 'kernel/runtime/watch/directory-events.ts',
    'the thread of an isolated plugin': 'kernel/registry/isolation/session.ts',
    'the watchdog of plugins': 'kernel/containment/watchdog.ts',
  },
  brokers: {
    'a connection to an AMQP broker': 'plugins/clients/amqp/link.ts',
    'a channel of AMQP': 'plugins/clients/amqp/channel.ts',
    'confirmations of AMQP': 'plugins/clients/amqp/publisher.ts',
    'a consumer of AMQP': 'plugins/async/amqp.ts',
    'a connection to a NATS server': 'plugins/clients/nats/connection.ts',
    'a connection to a Kafka broker': 'plugins/clients/kafka/guard.ts',
    'sockets of the libraries': 'plugins/clients/broker/own-sockets.ts',
    'the runner of an agent': 'plugins/async/lib/agent-runner.ts',
    'lookups of SRV records': 'plugins/discovery/lib/watch.ts',
  },
  primary: {
    'messages of a worker': 'kernel/workers/channel.ts',
    'the exit of a worker, and its next start': 'kernel/workers/worker-slot.ts',
  },
};

let reports: ReadonlyMap<string, Promise<Report>> | null = null;

/** The report of one test program. All programs run at the same time, because they mostly wait. */
function reportOf(name: string): Promise<Report> {
  reports ??= new Map(
    Object.keys(worlds).map((world) => {
      const report = run(world);
      report.catch(() => {});
      return [world, report];
    }),
  );
  return reports.get(name)!;
}

async function run(world: string): Promise<Report> {
  const options = { timeout: 280_000, maxBuffer: 1 << 26 };
  const { stdout } = await promisify(execFile)(process.execPath, [program, world], options);
  return JSON.parse(stdout);
}

for (const [world, emitters] of Object.entries(worlds)) {
  describe(`an exception or rejection injected into an event handler of ${world}`, function () {
    this.timeout(300_000);
    let report: Report;

    before(async () => {
      report = await reportOf(world);
    });

    const sitesOf = (outcomes: readonly Outcome[], wrong: (outcome: Outcome) => boolean): readonly string[] =>
      outcomes.filter(wrong).map(({ site, kind, places, broken }) => `${site} (${kind}): ${places} ${broken ?? ''}`);

    it('is tested for every kind of event emitter', () => {
      const reached = report.outcomes.map(({ site }) => site);
      for (const [name, part] of Object.entries(emitters)) {
        ok(
          reached.some((site) => site.startsWith(part)),
          name,
        );
      }
      // Some handlers may not be reached, because they run only sometimes, for example for a reused connection.
      ok(report.unreached.length < report.outcomes.length / 5, report.unreached.join('\n'));
    });

    it('is counted for its owner', () => {
      const isWrong = ({ site, places }: Outcome): boolean =>
        places.length !== 1 || !placesFor(site.split(':', 1)[0]!).includes(places[0]!);
      deepEqual(sitesOf(report.outcomes, isWrong), []);
    });

    it('is logged once with its owner and its stack', () => {
      for (const { logged, kind, site, places } of report.outcomes) {
        const line = `ERROR internal error in ${places[0]}`;
        equal(logged?.includes(line), true, `${site} (${kind}): ${logged}`);
        match(logged!, /planted as [^\n]*\\nError: planted as .*\\n {4}at /);
      }
    });

    if (Object.values(emitters).includes('plugins/websocket/peer.ts')) {
      it('is logged with the request that the connection serves, if it serves only one', () => {
        const upgraded = report.outcomes.filter(
          ({ site, places }) => site.startsWith('plugins/websocket/peer.ts') && places[0] === 'client connection',
        );
        ok(upgraded.length > 0);
        for (const { logged } of upgraded)
          match(logged!, /internal error in client connection of \S+:\d+ \(GET \/\S+\): /);
      });
    }

    it('does not affect other requests, and its owner works again afterwards', () => {
      const isWrong = ({ other, broken }: Outcome): boolean => other !== 200 || broken !== null;
      deepEqual(sitesOf(report.outcomes, isWrong), []);
      equal(report.held, 200);
    });
  });
}
