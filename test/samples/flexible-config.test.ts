import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Operations } from '#kernel';
import { Refusal } from '../../kernel/control/refusal.ts';
import { silentSinks } from '../../kernel/testing/index.ts';
import { createUpstream } from '../../samples/quickstart/upstream.ts';
import { sluice } from '../kernel/cli/command.ts';
import { until } from '../support/conditions.ts';
import { openGateway } from '../support/gateway.ts';

describe('the sample "flexible-config"', () => {
  const upstream = createUpstream();
  let folder: string;
  let gateway: Operations | undefined;

  before(async () => {
    await once(upstream.listen(0, '127.0.0.1'), 'listening');
  });
  after(async () => {
    upstream.close();
    await once(upstream, 'close');
  });

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-sample-'));
    cpSync('samples/flexible-config', folder, { recursive: true });
    const options = join(folder, 'flexible_config.json');
    writeFileSync(options, readFileSync(options, 'utf8').replaceAll('samples/flexible-config', folder));
    process.env.FC_CONFIG = options;
    process.env.UPSTREAM = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  });
  afterEach(async () => {
    delete process.env.FC_CONFIG;
    delete process.env.UPSTREAM;
    await gateway?.close();
    gateway = undefined;
    rmSync(folder, { recursive: true });
  });

  const file = () => join(folder, 'gateway.tmpl');
  const start = async () => {
    gateway = await openGateway(file(), { port: 0, sinks: silentSinks });
    return gateway;
  };
  const change = (name: string, from: string, to: string) => {
    const path = join(folder, name);
    writeFileSync(path, readFileSync(path, 'utf8').replace(from, to));
  };
  const statusOf = async (path: string) => (await gateway!.inject(path)).statusCode;

  it('passes check, which prints the names of the settings files and no warning', async () => {
    process.env.FC_CONFIG = 'samples/flexible-config/flexible_config.json';
    delete process.env.UPSTREAM;
    const { code, out, err } = await sluice('check', '-c', 'samples/flexible-config/gateway.tmpl');
    deepEqual([code, err], [0, '']);
    match(out, /Rendered with samples\/flexible-config\/flexible_config\.json, .*resources\.yaml, .*extra\.json/);
  });

  it('serves an endpoint for each resource of its settings', async () => {
    await start();
    deepEqual(Object.keys((await gateway!.inject('/customers/1')).json()), ['name']);
    equal(await statusOf('/carts/1'), 200);
    equal(await statusOf('/others/1'), 404);
  });

  it('is reloaded when any of its files is saved, and when a new one appears', async () => {
    await start();
    await gateway!.watch();
    change('settings/endpoints/resources.yaml', 'name: carts', 'name: baskets');
    await until(async () => (await statusOf('/baskets/1')) === 200);
    change('templates/endpoint.tmpl', '"endpoint": "/', '"endpoint": "/v2/');
    await until(async () => (await statusOf('/v2/baskets/1')) === 200);
    change('gateway.tmpl', '.endpoints.resources', '(concat .endpoints.resources (.more | default list))');
    change('partials/extra.json', 'return_error_msg', '@return_error_msg');
    await until(() => gateway!.serving.snapshot.text.includes('@return_error_msg'));
    writeFileSync(join(folder, 'settings/more.yaml'), '- name: extra\n  path: /users/{id}\n');
    await until(async () => (await statusOf('/v2/extra/1')) === 200);
  });

  it('continues to serve if a template becomes invalid, and reports the line', async () => {
    await start();
    change('templates/endpoint.tmpl', '{{ toJson . }}', '{{ toJsn . }}');
    await rejects(gateway!.apply({ trigger: 'api' } as never), (error: Refusal) => {
      equal(error instanceof Refusal && error.slug, 'template');
      const [issue] = error.issues;
      deepEqual([issue?.line, issue?.code], [4, 'TEMPLATE_SYNTAX']);
      equal(issue?.file, join(folder, 'templates/endpoint.tmpl'));
      match(issue!.message, /unknown function toJsn/);
      return true;
    });
    equal(await statusOf('/customers/1'), 200);
    change('templates/endpoint.tmpl', '{{ toJsn . }}', '{{ toJson . }}');
    await gateway!.apply({ trigger: 'api' } as never);
    equal(await statusOf('/customers/1'), 200);
  });

  it('reports configuration errors at their places in the template', async () => {
    change('gateway.tmpl', '"port":', '"prot":');
    const { code, err } = await sluice('check', '-c', file());
    equal(code, 1);
    match(err, /gateway\.tmpl:5:3: error: .*prot/);
    match(err, /5 \| {3}"prot": \{\{ \.service\.port \}\},/);
  });
});
