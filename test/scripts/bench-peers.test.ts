import { deepEqual, equal, match, ok, rejects, throws } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SaxesParser } from 'saxes';
import { fieldOf } from '../../scripts/bench/against-peers.ts';
import { chart } from '../../scripts/bench/chart.ts';
import { start } from '../../scripts/bench/children.ts';
import { type ContestPlan, contest } from '../../scripts/bench/contest.ts';
import { describeContest } from '../../scripts/bench/contest-report.ts';
import { builtIn } from '../../scripts/bench/generator.ts';
import { usageOf } from '../../scripts/bench/meter.ts';
import { nginxBackend } from '../../scripts/bench/nginx.ts';
import { readOptions } from '../../scripts/bench/options.ts';
import { expressGateway, gatewayConfiguration } from '../../scripts/bench/peers/express-gateway.ts';
import { peers } from '../../scripts/bench/peers/index.ts';
import { koaGot } from '../../scripts/bench/peers/koa-got.ts';
import { nginx } from '../../scripts/bench/peers/nginx.ts';
import { COLLECTED, subjectOf } from '../../scripts/bench/peers/peer.ts';
import { findProgram, npmPackages } from '../../scripts/bench/programs.ts';
import { compareRatios, ratiosOf } from '../../scripts/bench/ratios.ts';
import { scenarios } from '../../scripts/bench/scenarios.ts';
import { openStage, type Stage } from '../../scripts/bench/stage.ts';
import { floor, type Subject } from '../../scripts/bench/subject.ts';
import { paths } from '../../scripts/bench/work.ts';

const BENCH = join(import.meta.dirname, '../../scripts/bench');
const merge = scenarios.find(({ name }) => name === 'merge')!;
const program = { path: '/opt/it', version: '1.2' };
const setup = {
  port: 81,
  upstream: 'http://127.0.0.1:82',
  scenario: 'no-op',
  configFile: '/tmp/c.json',
  folder: '/tmp/it',
};
const isLinux = process.platform === 'linux';

/** The first result of a function that is repeated until it returns a value without throwing. */
async function eventually<T>(look: () => T): Promise<T> {
  for (;;) {
    try {
      const seen = look();
      if (seen) return seen;
    } catch {}
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('the benchmark against other gateways', function () {
  this.timeout(60_000);
  let folder: string;
  let stage: Stage;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'bench-peers-test-'));
    stage = await openStage();
  });

  after(async () => {
    await stage.close();
    rmSync(folder, { recursive: true });
  });

  async function run(subjects: readonly Subject[], change: Partial<ContestPlan> = {}) {
    const generator = builtIn(stage.folder);
    try {
      return await contest(merge, subjects, {
        ...stage,
        ...{ generator, rounds: 1, seconds: 0.2, connections: 2 },
        ...change,
      });
    } finally {
      await generator.close();
    }
  }

  (isLinux ? it : it.skip)(
    'runs another gateway, the minimal server and the backend alternately, and checks each',
    async () => {
      const subjects = [floor, subjectOf(koaGot, await koaGot.install(stage.folder))];
      const { results, absent } = await run(subjects);
      deepEqual(absent, []);
      deepEqual(
        results.map(({ name, ratio }) => [name.split(' ', 1)[0], ratio !== undefined]),
        [
          ['direct', false],
          ['floor', true],
          ['koa-got', true],
        ],
      );
      for (const { full } of results) {
        const { cpuMicros, userMicros, systemMicros, residentMiB } = full;
        ok(Math.abs(cpuMicros.median - userMicros.median - systemMicros.median) < 1e-6 && residentMiB.median > 0);
      }
      equal(results[1]!.ratio!.median, 1);
    },
  );

  (isLinux ? it : it.skip)('continues without a program that does not start, and names it', async () => {
    const broken: Subject = { name: 'broken', script: () => ['-e', 'process.exit(3)'] };
    const { results, absent } = await run([floor, broken]);
    ok(results.some(({ name }) => name === 'floor'));
    equal(absent.length, 1);
    match(absent[0]!.reason, /^broken did not start: ended with code 3/);
  });

  (isLinux ? it : it.skip)(
    'prints no figures for a program whose rounds are all invalid, with the reason',
    async () => {
      const wrong: Subject = {
        name: 'wrong',
        script: ({ port }) => [
          '-e',
          `require('http').createServer((_, r) => r.setHeader('content-type', 'application/json').end('{"id":7}')).listen(${port}, '127.0.0.1')`,
        ],
      };
      const { absent } = await run([floor, wrong]);
      deepEqual(absent, [{ name: 'wrong', reason: 'wrong: wrong body: {"id":7}' }]);
    },
  );

  (isLinux ? it : it.skip)('includes CPU and memory of child processes', async () => {
    const idle = "process.stdout.write('up'); setInterval(() => {}, 1e6)";
    // The program ends when its standard input is closed, which happens when its parent ends.
    const child = "process.stdout.write('up'); process.stdin.resume().on('end', () => process.exit())";
    const parent = `require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(child)}]).stdout.once('data', () => process.stdout.write('ready'))`;
    const alone = start([process.execPath, '-e', idle], join(folder, 'alone.log'));
    const both = start([process.execPath, '-e', parent], join(folder, 'both.log'));
    try {
      while (!alone.output().includes('up') || !both.output().includes('ready')) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      const [one, two] = [await usageOf(alone), await usageOf(both)];
      ok(two.residentBytes > one.residentBytes * 1.5, `${two.residentBytes} of two, ${one.residentBytes} of one`);
      ok(two.userMicros + two.systemMicros > one.userMicros);
    } finally {
      await Promise.all([alone.stop(), both.stop()]);
    }
  });

  it("sends the requested rate, regardless of the server's capacity", async () => {
    let count = 0;
    const server = createServer((_request, response) => {
      count += 1;
      response.end('ok');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const generator = builtIn(stage.folder);
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
      const report = await generator.run({ url, connections: 2, seconds: 0.3, rate: 50 });
      ok(report.requests > 0 && report.requests <= 16, `${report.requests} requests`);
      equal(count, report.requests);
    } finally {
      await generator.close();
      server.close();
    }
  });

  it('lists for each gateway the scenarios that it supports, and why it does not support the others', () => {
    equal(new Set(peers.map(({ name }) => name)).size, peers.length);
    for (const peer of peers) {
      ok(peer.scenarios.every((name) => name in paths) && peer.scenarios.includes('no-op'), peer.name);
      equal(peer.cannot === '', peer.scenarios.length === Object.keys(paths).length, peer.name);
    }
    const { able, unable } = fieldOf(
      merge,
      new Map([
        [koaGot, program],
        [nginx, program],
      ]),
    );
    deepEqual(
      able.map(({ name }) => name),
      ['koa-got 1.2'],
    );
    deepEqual(unable, [{ name: 'nginx', reason: 'cannot: it passes bytes and does not look into JSON' }]);
  });

  it('configures each gateway with its port and the backend', () => {
    const models = join(folder, 'node_modules/express-gateway/lib/config/models');
    mkdirSync(models, { recursive: true });
    for (const name of ['users', 'credentials', 'applications']) writeFileSync(join(models, `${name}.json`), '{}');
    for (const peer of peers.filter(({ name }) => name !== 'krakend')) {
      const given = { path: peer === expressGateway ? folder : program.path, version: '1' };
      const { script, files, executable } = subjectOf(peer, given);
      const all = [...script(setup), ...Object.values(files?.(setup) ?? {})].join('\n');
      match(all, /\b81\b/, peer.name);
      match(all, /127\.0\.0\.1:82/, peer.name);
      equal(executable, peer.ofNode ? undefined : program.path);
      if (peer.ofNode) ok(existsSync(script(setup)[0]!), peer.name);
    }
    const { pipelines } = gatewayConfiguration('no-op', 81, setup.upstream);
    deepEqual(pipelines.bench.policies, [{ proxy: { action: { serviceEndpoint: 'backend', ignorePath: true } } }]);
  });

  it('uses nginx as a backend that returns the same bytes as Node.js', async () => {
    const { body } = await fetch(`${stage.upstream}/part/a`).then(async (response) => ({
      body: await response.text(),
    }));
    equal(nginxBackend(81)['files/part/a'], body);
  });

  (findProgram('nginx') ? it : it.skip)(
    'serves with nginx as the backend as with Node (apt-get install nginx-light)',
    async () => {
      const other = await openStage('nginx');
      try {
        for (const path of ['/small', '/large', '/elsewhere']) {
          const [one, two] = await Promise.all([fetch(stage.upstream + path), fetch(other.upstream + path)]);
          equal(await one.text(), await two.text());
          for (const header of ['content-type', 'content-length', 'etag']) {
            equal(two.headers.get(header), one.headers.get(header), header);
          }
        }
      } finally {
        await other.close();
      }
    },
  );

  it('explains how to install a missing program', async () => {
    const path = process.env['PATH'];
    process.env['PATH'] = folder;
    try {
      const [caddy, goFloor, krakend] = ['caddy', 'go-floor', 'krakend'].map(
        (name) => peers.find((peer) => peer.name === name)!,
      );
      await rejects(goFloor!.install(folder), /go is not on the PATH: install Go/);
      await rejects(caddy!.install(folder), /go is not on the PATH: install Go, or put caddy on the PATH/);
      await rejects(krakend!.install(folder), /krakend is not on the PATH: put the binary/);
    } finally {
      process.env['PATH'] = path;
    }
  });

  it('installs packages into the cache once, and removes a failed installation', async () => {
    const before = { ...process.env };
    const cache = join(folder, 'cache');
    const bin = join(folder, 'bin');
    mkdirSync(bin);
    const npm = (text: string) => writeFileSync(join(bin, 'npm'), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    process.env['XDG_CACHE_HOME'] = cache;
    process.env['PATH'] = `${bin}:${before['PATH']}`;
    try {
      npm('echo "npm error no network" >&2; exit 1');
      await rejects(npmPackages({ '@a/b': '1.0.0' }), /npm install .+ failed: npm error no network$/);
      deepEqual(readdirSync(join(cache, 'sluice-bench')), []);
      npm('echo "$$" > "$XDG_CACHE_HOME/started"; exec sleep 60');
      const file = JSON.stringify(join(BENCH, 'programs.ts'));
      const script = `import(${file}).then(({ npmPackages }) => npmPackages({ slow: '1.0.0' })); process.once('SIGTERM', () => process.exit(9))`;
      const interrupted = start([process.execPath, '-e', script], join(folder, 'interrupted.log'));
      const pid = await eventually(() => readFileSync(join(cache, 'started'), 'utf8').trim());
      await interrupted.stop();
      deepEqual(readdirSync(join(cache, 'sluice-bench')), []);
      ok(await eventually(() => !existsSync(`/proc/${pid}`)));
      npm('echo {} > "$3/package-lock.json"');
      const expected = { version: '1.0.0', path: join(cache, 'sluice-bench/@a_b-1.0.0') };
      deepEqual(await npmPackages({ '@a/b': '1.0.0', c: '2.0.0' }), expected);
      deepEqual(JSON.parse(readFileSync(join(expected.path, 'package.json'), 'utf8')).dependencies, {
        '@a/b': '1.0.0',
        c: '2.0.0',
      });
      npm('exit 1');
      deepEqual(await npmPackages({ '@a/b': '1.0.0' }), expected);
    } finally {
      process.env['PATH'] = before['PATH'];
      if (before['XDG_CACHE_HOME'] === undefined) delete process.env['XDG_CACHE_HOME'];
      else process.env['XDG_CACHE_HOME'] = before['XDG_CACHE_HOME'];
    }
  });

  (isLinux ? it : it.skip)('parses the requested gateways, charts and backend', () => {
    equal(readOptions(['--peers', 'all']).peers, peers);
    const { peers: chosen, scenarios: all } = readOptions([
      '--peers',
      'nginx,caddy',
      '--charts',
      'out',
      '--backend',
      'nginx',
    ]);
    deepEqual(
      chosen!.map(({ name }) => name),
      ['nginx', 'caddy'],
    );
    deepEqual(
      all.map(({ name }) => name),
      Object.keys(paths),
    );
    throws(() => readOptions(['--peers', 'apache']), /--peers: "apache" is none of go-floor, nginx/);
    throws(() => readOptions(['--peers', 'all', '--scenario', 'cors']), /--scenario: "cors" is none of no-op/);
    throws(() => readOptions(['--charts', 'out']), /--charts needs --peers/);
    throws(() => readOptions(['--backend', 'apache']), /--backend: "apache" is none of node, nginx/);
  });

  it('prints medians, invalid rounds and programs without figures', () => {
    const at = (median: number) => ({ median, min: median - 1, max: median + 1 });
    const full = {
      ...{ cpuMicros: at(30), userMicros: at(20), systemMicros: at(10), requestsPerSecond: at(1000) },
      ...{ p50Millis: at(2), p99Millis: at(9), busy: at(1), residentMiB: at(64) },
    };
    const text = describeContest({
      name: 'json',
      results: [
        { name: 'direct', full, ratio: undefined, half: undefined, voided: [] },
        {
          name: 'gateway',
          full,
          ratio: at(1.5),
          half: { requestsPerSecond: 500, p50Millis: at(1), p99Millis: at(3) },
          voided: ['late'],
        },
      ],
      absent: [{ name: 'caddy', reason: 'not installed: no Go' }],
    });
    const [title, , direct, own, voided, none] = text.split('\n');
    equal(title, 'json');
    match(
      direct!,
      /^direct \(CPU of the backend\) +20\.0 +10\.0 +30\.0 \(29\.0-31\.0\) +- +1000 +2\.00\/9\.00 +- +64$/,
    );
    match(own!, /^gateway +20\.0 .+ 1\.50 \(0\.50-2\.50\) .+ 1\.00\/3\.00 +64$/);
    equal(voided, 'void  gateway: 1 rounds, the first for: late');
    equal(none, 'none  caddy: not installed: no Go');
  });

  it('draws bars in proportion as valid SVG, the shortest first', () => {
    const svg = chart('a < b & "c"', [
      { name: 'long <x>', user: 30, system: 10, note: '2.00' },
      { name: 'short', user: 5, system: 15, own: true },
    ]);
    const widths: number[] = [];
    const texts: string[] = [];
    const parser = new SaxesParser();
    parser.on('error', (error) => {
      throw error;
    });
    parser.on('opentag', ({ name, attributes }) => {
      if (name === 'rect') widths.push(Number(attributes['width']));
    });
    parser.on('text', (text) => texts.push(text));
    parser.write(svg).close();
    deepEqual(
      widths.map((width) => Math.round((width / widths[2]!) * 30)),
      [5, 15, 30, 10],
    );
    ok(texts.includes('a < b & "c"') && texts.includes('40.0 · 2.00') && texts.includes('20.0'));
    ok(svg.indexOf('short') < svg.indexOf('long'));
  });

  it('draws nothing without figures', () => {
    ok(!chart('none', []).includes('NaN'));
  });

  describe('bench:check', () => {
    const expected = { tolerance: 0.5, ratios: { 'no-op': 1, merge: 1 } };
    const runOf = (noOp: number, merged: number) => ({
      scenarios: [
        { name: 'no-op', ratio: { median: noOp } },
        { name: 'merge', results: [{ name: 'gateway', ratio: { median: merged } }], absent: [] },
        { name: 'json', failed: 'wrong body' },
      ],
    });
    const check = (run: object) => compareRatios(ratiosOf(run), expected);

    it('accepts ratios within the tolerance, of runs with and without peers', () => {
      deepEqual(check(runOf(1.49, 0.7)), [
        { isRight: true, text: 'no-op: 1.49, expected 1.00' },
        { isRight: true, text: 'merge: 0.70, expected 1.00' },
      ]);
    });

    it('rejects a ratio above the tolerance, and a scenario without figures', () => {
      deepEqual(check(runOf(1.51, 1))[0], {
        isRight: false,
        text: 'no-op: 1.51, expected 1.00: more than 50 % above',
      });
      deepEqual(check({ scenarios: [{ name: 'no-op', failed: 'x' }] })[0], {
        isRight: false,
        text: 'no-op: no figures',
      });
      throws(() => ratiosOf({}), /not the JSON of a run/);
    });

    it('reports that the committed ratio is out of date if the gateway has become much faster', () => {
      const [line] = check(runOf(0.5, 1));
      ok(line!.isRight);
      match(line!.text, /expected\.json can be lowered/);
    });

    it('reads a run from a file and exits with its result', async () => {
      const committed = JSON.parse(readFileSync(join(BENCH, 'expected.json'), 'utf8')) as typeof expected;
      deepEqual(Object.keys(committed.ratios), COLLECTED);
      const file = join(folder, 'run.json');
      const ratio = (factor: number) =>
        Object.entries(committed.ratios).map(([name, median]) => ({ name, ratio: { median: median * factor } }));
      const ask = () => promisify(execFile)(process.execPath, [join(BENCH, 'check.ts'), file]);
      writeFileSync(file, JSON.stringify({ scenarios: ratio(1) }));
      match((await ask()).stdout, /^no-op: \d\.\d\d, expected \d\.\d\d\n/);
      writeFileSync(file, JSON.stringify({ scenarios: ratio(9) }));
      await rejects(ask(), { code: 1, stdout: /more than \d+ % above/ });
      writeFileSync(file, '{}');
      await rejects(ask(), { code: 2 });
    });
  });
});
