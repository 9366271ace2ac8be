import { deepEqual, equal, match, ok, rejects, throws } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { chooseGenerator, type Generator } from '../../scripts/bench/generator.ts';
import { manyEndpoints } from '../../scripts/bench/many-endpoints.ts';
import { compare } from '../../scripts/bench/measure.ts';
import { FEW, type Routes, routed } from '../../scripts/bench/routes.ts';
import { scenarios } from '../../scripts/bench/scenarios.ts';
import { openStage, type Stage } from '../../scripts/bench/stage.ts';
import { bareGateway, floor, gateway, gatewayOfFew, launch, loggingGateway } from '../../scripts/bench/subject.ts';
import { verifyLoad, verifySample } from '../../scripts/bench/verify.ts';
import { readWrkReport } from '../../scripts/bench/wrk.ts';
import { freePort } from '../../scripts/free-port.ts';

const BENCH = join(import.meta.dirname, '../../scripts/bench/index.ts');
const run = (...args: string[]) => promisify(execFile)(process.execPath, [BENCH, ...args]);
const brief = ['--noise', '--rounds', '1', '--seconds', '0.1', '--connections', '4'];

const wrkText = `Running 3s test @ http://127.0.0.1:1/
  1 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     2.61ms    1.02ms  25.11ms   95.33%
    Req/Sec    25.15k     1.86k   27.11k    83.33%
  Latency Distribution
     50%  980.00us
     75%    2.64ms
     90%    3.10ms
     99%    6.61ms
  75115 requests in 3.01s, 81.67MB read
`;

describe('the benchmark', function () {
  this.timeout(180_000);
  let folder: string;
  let stage: Stage;
  let generator: Generator;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'bench-test-'));
    stage = await openStage();
    generator = chooseGenerator(0.1, stage.folder);
  });

  after(async () => {
    await Promise.all([generator.close(), stage.close()]);
    rmSync(folder, { recursive: true });
  });

  const plan = () => ({
    upstream: stage.upstream,
    folder: stage.folder,
    generator,
    rounds: 1,
    seconds: 0.1,
    connections: 4,
  });

  it('prints a line of figures for each named scenario and writes them as JSON', async () => {
    const json = join(folder, 'figures.json');
    const { stdout } = await run(...brief, '--scenario', 'merge,no-op', '--json', json);
    const lines = stdout.trimEnd().split('\n').slice(2);
    deepEqual(
      lines.map((line) => line.split(' ', 1)[0]),
      ['merge', 'no-op'],
    );
    for (const line of lines)
      match(
        line,
        /^\S+(?: +\d+\.\d \(.+?\)){2} +-?\d+\.\d \(.+?\) +\d\.\d\d \(.+?\)(?: +\d+){2}(?: +[\d.]+\/[\d.]+){2}(?: +\d+ \(.+?\)){2}$/,
      );
    const figures = JSON.parse(readFileSync(json, 'utf8'));
    equal(figures.node, process.version);
    equal(figures.scenarios.length, 2);
    for (const { base, subject, ratio } of figures.scenarios) {
      ok(base.cpuMicros.median > 0 && base.requestsPerSecond.median > 0 && base.p99Millis.median > 0);
      ok(base.residentMiB.median > 0);
      ok(Math.abs(ratio.median - subject.cpuMicros.median / base.cpuMicros.median) < 1e-9);
    }
  });

  const apart = scenarios.filter(
    ({ accessLog, attach, routes, workers }) => !accessLog && !attach && !routes && !workers,
  );
  for (const scenario of apart.filter(({ name }) => name !== 'echo-100m')) {
    it(`has a minimal server that answers correctly for ${scenario.name}`, async () => {
      const port = await freePort();
      const setup = { port, upstream: stage.upstream, scenario: scenario.name, configFile: '', folder };
      const { path, status, echoes } = scenario;
      const { child } = await launch(floor, setup, path, join(folder, 'floor.log'), {}, status, echoes);
      try {
        await verifySample(`http://127.0.0.1:${port}`, scenario);
      } finally {
        await child.stop();
      }
    });
  }

  it('compares a gateway with few endpoints to one with many, with separate requests', async () => {
    const scenario = {
      ...scenarios.find(({ name }) => name === 'routes-1000-last')!,
      name: 'routes',
      routes: { count: 50, asked: 'last' },
    } as const;
    const { base, subject } = await compare(scenario, gatewayOfFew, gateway, { ...plan(), rounds: 1 });
    ok(base.requestsPerSecond.median > 0 && subject.requestsPerSecond.median > 0);
    const counts = ['0', '1'].map(
      (lane) => JSON.parse(readFileSync(join(stage.folder, `${lane}-routes.json`), 'utf8')).endpoints.length,
    );
    deepEqual(counts, [FEW, 50]);
  });

  it('sends requests to the first of many endpoints, to the last, to random ones and to a path without an endpoint', () => {
    const asked = (which: Routes['asked']) => routed({ count: 50, asked: which }).paths;
    deepEqual(asked('first'), ['/area-0/page-0']);
    deepEqual(asked('last'), ['/v1/area-49/things-49/42']);
    equal(asked('random').length, 1000);
    const { endpoints } = routed({ count: 50, asked: 'none' });
    ok(!endpoints.some((endpoint) => 'endpoint' in endpoint && endpoint.endpoint === asked('none')[0]));
  });

  it('sends bodies, and detects bodies that the gateway returns with changes', async () => {
    const scenario = scenarios.find(({ name }) => name === 'echo-1m')!;
    const { base, subject } = await compare(scenario, floor, gateway, { ...plan(), rounds: 1 });
    ok(base.requestsPerSecond.median > 0 && subject.requestsPerSecond.median > 0);
    const server = createServer((request, response) => request.resume().on('end', () => response.end('short')));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await rejects(verifySample(origin, scenario), /another body of 5 bytes came back/);
    server.close();
  });

  it('compares the gateway with and without access log, for the minimum number of requests of the scenario', async () => {
    const scenario = { ...scenarios.find(({ accessLog }) => accessLog)!, requests: 100 };
    const { base, subject } = await compare(scenario, gateway, loggingGateway, { ...plan(), rounds: 1 });
    ok(base.residentMiB.median > 0 && subject.residentMiB.median > 0);
    const [quiet, logged] = ['0', '1'].map((lane) =>
      readFileSync(join(stage.folder, `${lane}-access-log.log`), 'utf8'),
    );
    ok(!quiet!.includes('/bench/access-log"') && logged!.split('/bench/access-log"').length > 100);
  });

  for (const [name, at] of [
    ['cors', 'the service'],
    ['token-hs256', 'an endpoint, with headers'],
  ] as const) {
    it(`compares the gateway with and without ${name} for ${at}`, async () => {
      const scenario = scenarios.find((one) => one.name === name)!;
      const { more, base, subject } = await compare(scenario, bareGateway, gateway, plan());
      ok(Math.abs(more.median - (subject.cpuMicros.median - base.cpuMicros.median)) < 1e-9);
      const [without, within] = ['0', '1'].map((lane) =>
        readFileSync(join(stage.folder, `${lane}-${name}.json`), 'utf8'),
      );
      const { service = {}, endpoint = {}, backend = {} } = scenario.attach!(stage.folder);
      for (const namespace of Object.keys({ ...service, ...endpoint, ...backend })) {
        ok(!without!.includes(`"${namespace}"`) && within!.includes(`"${namespace}"`));
      }
    });
  }

  it('prints the cost of components per request without sockets', async () => {
    const script = join(import.meta.dirname, '../../scripts/bench/in-process.ts');
    const args = ['--scenario', 'cors,token-hs256', '--pairs', '3', '--requests', '250'];
    const { stdout } = await promisify(execFile)(process.execPath, [script, ...args]);
    const [machine, , ...lines] = stdout.trimEnd().split('\n');
    match(machine!, /^Node v.+; an ES256 signature is verified in \d+ µs$/);
    for (const line of lines) match(line, /^(cors|token-hs256)(?: +-?\d+\.\d\d \(-?\d+\.\d\d to -?\d+\.\d\d\)){2}$/);
    equal(lines.length, 2);
  });

  it('prints the cost of PROXY headers and Unix sockets per request', async () => {
    const script = join(import.meta.dirname, '../../scripts/bench/listeners.ts');
    const { stdout } = await promisify(execFile)(process.execPath, [script, '--pairs', '3', '--requests', '8']);
    const [, ...lines] = stdout.trimEnd().split('\n');
    for (const line of lines)
      match(line, /^(new|kept) connection, |^backend over a Unix socket(?: +-?\d+\.\d \(.+?\)){2}$/);
    equal(lines.length, 6);
  });

  it('prints the cost of prompts, gates, remote tools and compression per request without sockets', async () => {
    const script = join(import.meta.dirname, '../../scripts/bench/in-process.ts');
    const names = [
      'semantic-cache',
      'prompt-guard',
      'redaction',
      'model-gates',
      'tool-call-upstream',
      'compression-zstd',
    ];
    const { stdout } = await promisify(execFile)(process.execPath, [
      ...[script, '--scenario', names.join()],
      ...['--pairs', '1', '--requests', '50'],
    ]);
    deepEqual(
      stdout
        .trimEnd()
        .split('\n')
        .slice(2)
        .map((line) => line.split(' ')[0]),
      names,
    );
  });

  it('rejects invalid options', async () => {
    await rejects(run('--scenario', 'nothing'), { code: 2, stderr: /"nothing" is none of no-op, json/ });
    await rejects(run('--rounds', '1.5'), { code: 2, stderr: /--rounds must be a whole number above 0/ });
    await rejects(run('--bogus'), { code: 2, stderr: /--bogus/ });
  });

  it('reports no results if a response body is not the expected one', async () => {
    const [noOp, json] = scenarios;
    const wrong = { ...json!, expected: { ...(json!.expected as object), id: 1 } };
    await rejects(compare(wrong, floor, floor, plan()), /^Error: floor: wrong body: \{"id":4711/);
    await rejects(compare({ ...noOp!, name: 'json' }, floor, floor, plan()), /a header of the upstream is missing/);
  });

  it('reports why a program did not start', async () => {
    await rejects(compare({ ...scenarios[0]!, name: 'unknown' }, floor, floor, plan()), /no floor for the scenario/);
  });

  it('detects wrong responses among correct ones under load', async () => {
    let count = 0;
    const server = createServer((_request, response) => {
      count += 1;
      response.writeHead(count % 2 === 0 ? 500 : 200);
      response.end('ok');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const { connections, seconds } = plan();
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
      const report = await generator.run({ url, connections, seconds });
      throws(() => verifyLoad(report, 2), /wrong responses under load: status 500/);
    } finally {
      server.close();
    }
  });

  it('detects truncated responses under load', () => {
    throws(() => verifyLoad(readWrkReport(wrkText), 2000), /have 1140 bytes, not 2000/);
  });

  it('parses the output of wrk', () => {
    deepEqual(readWrkReport(wrkText), {
      requests: 75115,
      bodyBytes: 81.67 * 1024 ** 2,
      wrong: 0,
      firstWrong: '',
      seconds: 3.01,
      p50Millis: 0.98,
      p99Millis: 6.61,
    });
  });

  it('counts errors reported by wrk as wrong responses', () => {
    const text = `${wrkText}  Socket errors: connect 0, read 3, write 0, timeout 1\n  Non-2xx or 3xx responses: 7\n`;
    const { wrong, firstWrong } = readWrkReport(text);
    equal(wrong, 11);
    match(firstWrong, /^7 responses were not 2xx; Socket errors/);
  });

  it('leaves no files behind', async () => {
    const { folder, close } = await openStage();
    await close();
    equal(existsSync(folder), false);
  });

  it('generates the requested number of distinct endpoints, some with variables', () => {
    const { endpoints, path } = manyEndpoints(1000);
    const paths = new Set(endpoints.map((one) => (one as { endpoint: string }).endpoint));
    equal(paths.size, 1000);
    ok([...paths].some((one) => one.includes('{id}')));
    equal(path, '/v2/42/orders-999/42');
  });
});
