import { deepEqual, equal, fail, match, ok } from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConfigError } from '#contract';
import { ConfigErrors } from '../kernel/contract/internal.ts';
import { type Canned, type CannedBackend, startCanned } from './support/canned.ts';
import { rememberingSinks, type SeenRequest, startGateway } from './support/gateway.ts';

type Fields = Record<string, unknown>;
type Headers = Record<string, string | string[]>;

interface SeenExpectation {
  method?: string;
  target?: string;
  headers?: Headers;
  absent?: string[];
  /** Names of all expected headers except `Connection`. */
  names?: string[];
  body?: unknown;
}

interface Case {
  name: string;
  config?: { service?: Fields; endpoint?: Fields; backends?: Fields[] };
  backends?: Record<string, Canned>;
  request?: { url?: string; method?: 'GET' | 'POST'; headers?: Headers; body?: string | Fields; ip?: string };
  expect: {
    status?: number;
    headers?: Headers;
    absent?: string[];
    body?: unknown;
    logs?: string[];
    seen?: Record<string, SeenExpectation[] | number>;
    refused?: string[];
    warnings?: string[];
  };
}

const folder = join(import.meta.dirname, 'specs');

for (const file of readdirSync(folder).filter((name) => name.endsWith('.json'))) {
  describe('the gateway', () => {
    for (const spec of JSON.parse(readFileSync(join(folder, file), 'utf8')) as Case[]) {
      it(spec.name, () => run(spec));
    }
  });
}

async function run(spec: Case): Promise<void> {
  const canned = spec.backends ?? { a: { body: { ok: true } } };
  const backends: Record<string, CannedBackend> = {};
  for (const name of Object.keys(canned)) backends[name] = await startCanned(canned[name]!);
  try {
    await check(insertAddresses(spec, backends), backends);
  } finally {
    await Promise.all(Object.values(backends).map((backend) => backend.close()));
  }
}

async function check(spec: Case, backends: Record<string, CannedBackend>): Promise<void> {
  const { expect, request = {} } = spec;
  const sinks = rememberingSinks();
  const started = startGateway(configOf(spec, Object.values(backends)[0]!), {
    sinks,
    debug: expect.logs !== undefined,
  });
  if (expect.refused) {
    const errors = await started.then(
      (gateway) => gateway.close().then(() => fail('the configuration was not refused')),
      (error: unknown) => (error instanceof ConfigErrors ? error.errors : fail(String(error))),
    );
    deepEqual(errors.map(({ code, pointer }: ConfigError) => `${code} ${pointer}`).sort(), expect.refused.sort());
    return;
  }
  const gateway = await started;
  try {
    const response = await gateway.inject({
      method: request.method ?? 'GET',
      url: request.url ?? '/x',
      headers: request.headers ?? {},
      remoteAddress: request.ip ?? '127.0.0.1',
      ...(request.body !== undefined && { payload: request.body }),
    });
    equal(response.statusCode, expect.status ?? 200, response.body);
    checkHeaders(response.headers, expect.headers, expect.absent, 'answer');
    checkBody(response.body, expect.body);
    for (const [name, wanted] of Object.entries(expect.seen ?? {})) checkSeen(name, backends[name]!.requests, wanted);
    for (const segment of expect.logs ?? []) {
      ok(
        sinks.lines.some((line) => line.includes(segment)),
        `no line with ${segment} in:\n${sinks.lines.join('')}`,
      );
    }
    for (const code of expect.warnings ?? []) {
      ok(
        gateway.status.warnings.some((warning) => warning.code === code),
        `no warning ${code}`,
      );
    }
  } finally {
    await gateway.close();
  }
}

function configOf({ config = {} }: Case, first: CannedBackend): object {
  const { service = {}, endpoint = {}, backends = [{}] } = config;
  const filled = backends.map((backend) => ({ url_pattern: '/', ...backend }));
  return { host: [first.url], ...service, endpoints: [{ endpoint: '/x', ...endpoint, backend: filled }] };
}

function insertAddresses(spec: Case, backends: Record<string, CannedBackend>): Case {
  let text = JSON.stringify(spec);
  for (const [name, { url, host }] of Object.entries(backends)) {
    text = text.replaceAll(`\${${name}}`, url).replaceAll(`\${${name}.host}`, host);
  }
  return JSON.parse(text);
}

function checkHeaders(
  given: Record<string, unknown>,
  wanted: Headers = {},
  absent: readonly string[] = [],
  of: string,
): void {
  for (const [name, value] of Object.entries(wanted)) {
    const result = given[name.toLowerCase()];
    if (typeof value === 'string' && value.startsWith('~')) {
      match(String(result), new RegExp(value.slice(1)), `${name} of ${of}`);
    } else {
      deepEqual(result, value, `${name} of ${of}`);
    }
  }
  for (const name of absent) equal(given[name.toLowerCase()], undefined, `${name} of ${of}`);
}

function checkBody(given: string, wanted: unknown): void {
  if (wanted === undefined) return;
  if (typeof wanted === 'string' && wanted.startsWith('~')) match(given, new RegExp(wanted.slice(1)));
  else if (typeof wanted === 'string') equal(given, wanted);
  else deepEqual(JSON.parse(given), wanted);
}

function checkSeen(name: string, requests: readonly SeenRequest[], wanted: SeenExpectation[] | number): void {
  if (typeof wanted === 'number') {
    equal(requests.length, wanted, `calls of ${name}`);
    return;
  }
  equal(requests.length, wanted.length, `calls of ${name}`);
  for (const [at, { method, target, headers, absent, names, body }] of wanted.entries()) {
    const seen = requests[at]!;
    if (method !== undefined) equal(seen.method, method);
    if (target !== undefined) equal(seen.target, target);
    checkHeaders(seen.headers, headers, absent, `${name}'s request`);
    if (names) {
      const sent = seen.rawHeaders.filter((header, index) => index % 2 === 0 && header.toLowerCase() !== 'connection');
      deepEqual(sent.map((header) => header.toLowerCase()).sort(), names.map((header) => header.toLowerCase()).sort());
    }
    checkBody(seen.body.toString(), body);
  }
}
