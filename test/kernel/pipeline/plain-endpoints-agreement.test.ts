import { deepEqual, equal, ok } from 'node:assert/strict';
import type { AtService } from '#contract';
import type { Operations } from '#kernel';
import { EndpointObserver } from '../../../kernel/control/observation/endpoint-observer.ts';
import { explainRequest, listRoutes, servedBy } from '../../../kernel/inspect/index.ts';
import { PlainRoute } from '../../../kernel/pipeline/compile/plain-route.ts';
import { type Chance, chanceFrom } from '../../support/chance.ts';
import { partsOf, rememberingSinks, startBackend, type TestBackend } from '../../support/gateway.ts';
import { startPlugged } from '../../support/plugged.ts';

type Fields = Record<string, unknown>;

/** The names include members of Object.prototype. */
const names = ['id', 'Name', 'constructor', '__proto__', 'toString'];
const fields = ['method', 'path', 'headers', 'body', 'list', 'constructor', '__proto__', 'absent'];
const answers = ['/json', '/list', '/text', '/empty', '/fail', '/missing', '/broken', '/away', '/gzip', '/cut'];

/** Random fields of an object. */
function maybe(chance: Chance, all: Record<string, () => unknown>): Fields {
  return Object.fromEntries(chance.some(Object.entries(all)).map(([name, make]) => [name, make()]));
}

function anyBackend(chance: Chance, variable: string, host: string): Fields {
  const pattern = chance.pick(answers) + chance.pick(['', `/{${variable}}`, `?q={${variable}}`, '?fixed=1']);
  return {
    url_pattern: pattern,
    ...maybe(chance, {
      host: () => [host.replace('127.0.0.1', chance.pick(['127.0.0.1', 'localhost']))],
      method: () => chance.pick(['GET', 'POST', 'PUT']),
      encoding: () => chance.pick(['json', 'string', 'safejson', 'xml', 'no-op']),
      group: () => chance.pick(['g', 'constructor', '__proto__']),
      target: () => chance.pick(['headers', 'absent', 'list']),
      allow: () => chance.some(fields),
      mapping: () => ({ [chance.pick(fields)]: chance.pick(['renamed', '__proto__', 'constructor']) }),
      is_collection: () => true,
      input_headers: () => ['X-A'],
      input_query_strings: () => ['q'],
      timeout: () => '10s',
      disable_host_sanitize: () => true,
    }),
  };
}

function anyEndpoint(chance: Chance, at: number, host: string): Fields {
  const variable = chance.pick(names);
  const output = chance.pick(['json', 'json', 'json', 'no-op', 'string', 'json-collection', 'negotiate', 'fast-json']);
  const backends = output === 'no-op' ? 1 : 1 + chance.below(3);
  return {
    endpoint: `/${chance.pick(['A', 'b'])}/${at}/{${variable}}${chance.pick(['', '', '/', '/end'])}`,
    output_encoding: output,
    backend: Array.from({ length: backends }, () => anyBackend(chance, variable, host)),
    ...maybe(chance, {
      method: () => chance.pick(['POST', 'PUT', 'PATCH', 'DELETE']),
      input_headers: () => chance.pick([['*'], ['X-A', 'X-B']]),
      input_query_strings: () => chance.pick([['*'], ['q', '__proto__']]),
      concurrent_calls: () => 2,
      cache_ttl: () => '3s',
      timeout: () => '20s',
    }),
  };
}

/** Settings of a gateway in which no endpoints share attachments: each has a component without effect around it. */
const apart: AtService = { eachEndpoint: () => ({}) };

interface Observed {
  /** Log lines before the first request. */
  readonly started: readonly string[];
  readonly replies: readonly unknown[];
  readonly lines: readonly string[];
  readonly traffic: readonly unknown[];
  readonly routes: unknown;
  readonly explained: readonly unknown[];
}

/** All observable results of a gateway for the same requests. @param isTimed times the stages of every request. */
async function observe(
  document: object,
  service: AtService,
  seed: number,
  isTimed = false,
): Promise<Observed & { plain: number }> {
  const sinks = rememberingSinks();
  const gateway = await startPlugged(document, { service }, { sinks, debug: true });
  try {
    const { config, compiled } = partsOf(gateway).generations.current.runtime;
    const served = await servedBy(config, compiled);
    let now = 0;
    for (const route of isTimed ? compiled.routes : []) {
      const observer = new EndpointObserver(() => (now += 60));
      observer.prepare(route);
      route.traffic.observer = observer;
    }
    const started = timeless(sinks.lines.splice(0));
    const replies: unknown[] = [];
    const explained: unknown[] = [];
    const chance = chanceFrom(seed);
    for (const { endpoint, method } of config.endpoints) {
      const path = endpoint.replace(/\{.*\}/, chance.pick(['7', 'x%20y', 'Ä', '__proto__']));
      for (const url of [path, path, chance.pick([path.toUpperCase(), `${path}/`, path.slice(0, -1), `/${path}`])]) {
        const asked = chance.pick([method, method, method, 'HEAD', 'OPTIONS', 'PATCH']);
        const target = encodeURI(decodeURI(url)) + chance.pick(['', '?q=1&r=2', '?__proto__=1&q=%00']);
        const headers = {
          host: 'gateway.test',
          'x-a': 'a',
          'x-b': 'b',
          accept: chance.pick(['*/*', 'application/xml']),
        };
        explained.push(await explainRequest(served, { method: asked, target, headers: Object.entries(headers) }));
        replies.push([asked, target, await replyOf(gateway, asked, target, headers)]);
      }
    }
    return {
      plain: compiled.routes.filter((route) => route instanceof PlainRoute).length,
      started,
      replies,
      lines: timeless(sinks.lines),
      traffic: compiled.routes.map(({ endpoint, traffic: { calls, errors, statuses, backends } }) => [
        endpoint.endpoint,
        calls,
        errors,
        statuses.snapshot(),
        Array.from(backends, ([name, counts]) => [name, counts.snapshot()]).sort(),
      ]),
      routes: listRoutes({ config, compiled }),
      explained,
    };
  } finally {
    await gateway.close();
  }
}

async function replyOf(gateway: Operations, method: string, url: string, headers: Record<string, string>) {
  const hasBody = method !== 'GET' && method !== 'HEAD';
  const {
    statusCode,
    headers: all,
    body,
  } = await gateway.inject({
    method: method as 'GET',
    url,
    headers,
    ...(hasBody && { body: '{"sent":1}' }),
  });
  const { date: _date, ...rest } = all;
  // Lines are sorted, because errors are listed in the order in which they occur.
  return [statusCode, rest, body.split('\n').sort()];
}

/** The lines of a log, without times, durations and the order of responses. */
function timeless(lines: readonly string[]): string[] {
  const varying =
    /\d{4}[-/]\d\d[-/]\d\d[T -]*\d\d:\d\d:\d\d(?:\.\d+)?\S*|\d+(?:\.\d+)?(?:n|µ|m)?s\b|(?<=Error #)\d+|(?<= ) +/g;
  return lines.join('').replaceAll(varying, '').split('\n').sort();
}

describe('endpoints that share their pipeline', function () {
  this.timeout(120_000);
  let backend: TestBackend;

  before(async () => {
    backend = await startBackend(({ method, target, headers, body }, response) => {
      const { date: _date, connection: _connection, host: _host, ...seen } = headers;
      const json = JSON.stringify({ method, path: target, headers: seen, body: body.toString(), list: [1, 'two'] });
      const [, kind] = target.split(/[/?]/);
      const type = { 'Content-Type': kind === 'text' ? 'text/plain' : 'application/json' };
      if (kind === 'cut') return void response.destroy();
      if (kind === 'away') return void response.writeHead(302, { Location: '/json' }).end();
      if (kind === 'fail') return void response.writeHead(503, type).end(json);
      if (kind === 'missing') return void response.writeHead(404, type).end(json);
      if (kind === 'empty') return void response.writeHead(204).end();
      response.writeHead(200, { ...type, 'X-Of': String(kind) });
      response.end(kind === 'list' ? '[1,{"a":2}]' : kind === 'broken' ? '{"a":' : kind === 'text' ? 'text' : json);
    });
  });
  after(() => backend.close());

  for (const seed of [1, 2, 3]) {
    it(`respond like endpoints with separate pipelines, and like timed ones: generated configuration ${seed}`, async () => {
      const chance = chanceFrom(seed);
      const document = {
        host: [backend.url],
        timeout: '30s',
        endpoints: Array.from({ length: 120 }, (_, at) => anyEndpoint(chance, at, backend.url)),
        extra_config: {
          test: {},
          router: maybe(chance, {
            return_error_msg: () => true,
            auto_options: () => true,
            disable_redirect_trailing_slash: () => true,
            disable_redirect_fixed_path: () => true,
            disable_handle_method_not_allowed: () => true,
            remove_extra_slash: () => true,
            max_payload: () => 5,
          }),
        },
      };
      const { plain, ...shared } = await observe(document, {}, seed);
      const { plain: none, ...own } = await observe(document, apart, seed);
      equal(none, 0);
      ok(plain > 30, String(plain));
      for (const key of Object.keys(shared) as (keyof Observed)[]) deepEqual(shared[key], own[key], key);
      for (const service of [{}, apart]) {
        const { plain: _plain, ...timed } = await observe(document, service, seed, true);
        for (const key of Object.keys(shared) as (keyof Observed)[])
          deepEqual(shared[key], timed[key], `timed: ${key}`);
      }
    });
  }
});
