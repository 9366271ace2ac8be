import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import type { Operations } from '#kernel';
import { sluice } from '../kernel/cli/command.ts';
import { startNameServer } from '../support/dns.ts';
import { json, startBackend, startGateway } from '../support/gateway.ts';

const run = promisify(execFile);
const read = (name: string): string => readFileSync(`samples/deployment/${name}`, 'utf8');

/** The words of a command of the gateway, without its program. */
type Words = readonly string[];

/** A part of a manifest. */
type Part = { readonly [key: string]: Part } & readonly Part[];

describe('the sample "deployment"', () => {
  const guide = read('README.md');
  const configuration = JSON.parse(read('gateway.json'));
  const waitSeconds = Number.parseInt(configuration.max_shutdown_wait_time, 10);
  let gateway: Operations;

  before(async () => {
    gateway = await startGateway(configuration);
  });
  after(() => gateway.close());

  /** Asserts that every flag of a command exists, and that its configuration is where the image or the service has it. */
  const demandCommand = async ([name, ...args]: Words): Promise<void> => {
    const { out } = await sluice(name!, '--help');
    for (const flag of args.filter((word) => word.startsWith('-'))) match(out, new RegExp(`(^|[ ,])${flag}\\b`, 'm'));
    if (args.includes('-c')) equal(args[args.indexOf('-c') + 1], '/etc/sluice/gateway.json');
  };

  const demandPath = async (path: string): Promise<void> => {
    equal((await gateway.inject(path)).statusCode, 200, path);
  };

  for (const file of ['gateway', 'discovery']) {
    it(`has a configuration that passes check without warnings: ${file}.json`, async () => {
      const { code, err } = await sluice('check', '-c', `samples/deployment/${file}.json`);
      deepEqual([code, err], [0, '']);
    });
  }

  it('balances requests over the backends that the name server knows', async () => {
    const names = await startNameServer();
    const pods = [await startBackend(json({ pod: 'a' })), await startBackend(json({ pod: 'b' }))];
    const records = pods.map(({ url }) => ({
      ...{ name: 'localhost', port: Number(new URL(url).port) },
      ...{ weight: 1, priority: 1 },
    }));
    for (const service of ['orders', 'customers'])
      names.zone.set(`_http._tcp.${service}.shop.svc.cluster.local`, records);
    const discovering = await startGateway(JSON.parse(read('discovery.json')));
    for (const path of ['/orders/1', '/customers/1']) {
      const seen = new Set<string>();
      while (seen.size < 2) seen.add((await discovering.inject(path)).json().pod);
    }
    await discovering.close();
    for (const pod of pods) await pod.close();
    await names.close();
  });

  describe('with its container image', () => {
    const dockerfile = read('Dockerfile').replaceAll('\\\n', '');
    const instructions = (name: string): string[] =>
      Array.from(dockerfile.matchAll(new RegExp(`^${name} (.*)$`, 'gm')), ([, rest]) => rest!);

    it('runs without root, and without the files of the package manager', () => {
      equal(instructions('FROM').length, 2);
      deepEqual(instructions('USER'), ['1000:1000']);
      ok(dockerfile.lastIndexOf('npm install') < dockerfile.lastIndexOf('FROM '));
    });

    it('starts the gateway with the included configuration and the exposed port', async () => {
      deepEqual(instructions('ENTRYPOINT'), ['["sluice"]']);
      const [command] = instructions('CMD');
      await demandCommand(JSON.parse(command!));
      deepEqual(instructions('EXPOSE'), [String(configuration.port)]);
      deepEqual(instructions('COPY').slice(-1), ['gateway.json /etc/sluice/gateway.json']);
    });

    it('becomes healthy when the gateway is ready', async () => {
      const [check] = /(?<=CMD ).*/.exec(instructions('HEALTHCHECK')[0]!)!;
      const { port } = await gateway.listen({ port: 0, host: '127.0.0.1' });
      const [program, ...args] = JSON.parse(check.replace(`:${configuration.port}/`, `:${port}/`));
      equal(program, 'node');
      await run(process.execPath, args);
      gateway.processes.setClosing(true);
      const outcome = await run(process.execPath, args).catch((error) => error);
      gateway.processes.setClosing(false);
      equal(outcome.code, 1);
    });

    it('builds and runs the image as the guide shows', () => {
      match(guide, /npm pack --pack-destination samples\/deployment\n/);
      deepEqual(instructions('COPY')[0], 'sluice-*.tgz ./');
      match(guide, new RegExp(`--publish ${configuration.port}:${configuration.port} `));
      match(guide, /--read-only /);
      const [state] = /GATEWAY_STATE_DIR=(\S+)/.exec(dockerfile)!.slice(1);
      match(guide, new RegExp(`--tmpfs ${state}:uid=1000,gid=1000,mode=700`));
      const [timeout] = /--stop-timeout (\d+)/.exec(guide)!.slice(1);
      ok(Number(timeout) > waitSeconds);
    });
  });

  describe('with its systemd unit', () => {
    const unit = read('sluice.service');
    const setting = (name: string): string => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)![1]!;

    it('starts and reloads the gateway at the path of the guide', async () => {
      const [prefix] = /--prefix (\S+)/.exec(guide)!.slice(1);
      for (const name of ['ExecStart', 'ExecReload']) {
        const [program, ...args] = setting(name).split(' ');
        equal(program, `${prefix}/node_modules/.bin/sluice`);
        await demandCommand(args);
      }
      match(guide, /samples\/deployment\/gateway\.json \/etc\/sluice\/gateway\.json\n/);
    });

    it('allows more time to stop than the gateway waits for requests', () => {
      ok(Number.parseInt(setting('TimeoutStopSec'), 10) > waitSeconds);
    });

    it('is accepted by systemd', async function () {
      const folder = mkdtempSync(join(tmpdir(), 'unit-'));
      try {
        execFileSync('systemd-analyze', ['--version'], { stdio: 'ignore' });
      } catch {
        rmSync(folder, { recursive: true });
        this.skip();
      }
      const file = join(folder, 'sluice.service');
      writeFileSync(file, unit.replaceAll(/^(Exec\w+=)\S+/gm, `$1${process.execPath}`));
      const { stdout, stderr } = await run('systemd-analyze', ['verify', '--man=no', file]).catch((error) => error);
      rmSync(folder, { recursive: true });
      const lines = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('sluice.service'));
      deepEqual(lines, []);
    });
  });

  describe('with its Kubernetes manifests', () => {
    const parts = parseAllDocuments(read('kubernetes.yaml')).map((document) => {
      deepEqual(document.errors, []);
      return document.toJS() as Part;
    });
    const ofKind = (kind: string): Part => parts.find((part) => (part['kind'] as unknown) === kind)!;
    const pod = ofKind('Deployment')['spec']!['template']!['spec']!;
    const container = pod['containers']![0]!;

    it('configures the gateway like the other samples', () => {
      deepEqual(JSON.parse(ofKind('ConfigMap')['data']!['gateway.json'] as unknown as string), configuration);
    });

    it('mounts a directory, so that a change of the ConfigMap reaches the gateway', async () => {
      await demandCommand(container['args'] as unknown as Words);
      const mounts = container['volumeMounts'] as unknown as { name: string; mountPath: string; subPath?: string }[];
      const { mountPath, subPath } = mounts.find(({ name }) => name === 'configuration')!;
      deepEqual([mountPath, subPath], ['/etc/sluice', undefined]);
    });

    it('probes existing paths on the port of the gateway', async () => {
      for (const name of ['startupProbe', 'readinessProbe', 'livenessProbe']) {
        const { path, port } = container[name]!['httpGet'] as unknown as { path: string; port: string };
        equal(port, 'http');
        await demandPath(path);
      }
      deepEqual(container['ports'], [{ name: 'http', containerPort: configuration.port }]);
      equal(ofKind('Service')['spec']!['ports']![0]!['targetPort'], 'http');
    });

    it('allows enough time for the pause before shutdown and for pending requests', () => {
      const [program, seconds] = container['lifecycle']!['preStop']!['exec']!['command'] as unknown as [string, string];
      equal(program, 'sleep');
      ok(Number(pod['terminationGracePeriodSeconds']) >= Number(seconds) + waitSeconds);
    });

    it('runs the gateway without root, with a read-only file system', () => {
      const { readOnlyRootFilesystem, allowPrivilegeEscalation } = container['securityContext']!;
      deepEqual([readOnlyRootFilesystem, allowPrivilegeEscalation], [true, false]);
      equal(pod['securityContext']!['runAsNonRoot'], true);
      equal(`${pod['securityContext']!['runAsUser']}:${pod['securityContext']!['runAsGroup']}`, '1000:1000');
    });

    it('selects the pods that it creates', () => {
      const { labels } = ofKind('Deployment')['spec']!['template']!['metadata']!;
      for (const kind of ['Deployment', 'PodDisruptionBudget'])
        deepEqual(ofKind(kind)['spec']!['selector']!['matchLabels'], labels);
      deepEqual(ofKind('Service')['spec']!['selector'], labels);
    });
  });
});
