import { deepEqual, ok } from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { ScalarType } from '@bufbuild/protobuf';
import ts from 'typescript';
import { HeaderBag, makeRequest, Reply } from '#contract';
import { maskText } from '../kernel/config/secrets/secret-words.ts';
import { tooDeepBracket } from '../kernel/config/syntax/too-deep.ts';
import { maskQuery } from '../kernel/contract/masked-query.ts';
import { Masks } from '../kernel/contract/masks.ts';
import { protocolOf, requestsSwitch } from '../kernel/server/http1/upgrade.ts';
import { requestsHttp2 } from '../kernel/server/http2/h2c.ts';
import { toFloat } from '../kernel/templates/functions/numbers.ts';
import { compileTemplate } from '../kernel/templates/index.ts';
import { parseGoDuration } from '../kernel/templates/time/duration.ts';
import { readToken } from '../plugins/auth/client-credentials/issued-token.ts';
import { headerSelector } from '../plugins/auth/external/client-headers.ts';
import { endToEnd } from '../plugins/auth/external/decision.ts';
import { parseYaml } from '../plugins/engines/documents/yaml/reader.ts';
import { readScalar } from '../plugins/engines/grpc/scalars.ts';
import { replyWithRange } from '../plugins/modifier/martian/range.ts';
import { asDirectory } from '../plugins/shared/files/file-path.ts';
import { subprotocolsOf } from '../plugins/websocket/handshake.ts';
import { cost } from './support/cost.ts';

/** Length of the hostile texts, in characters: the default limit for the headers of a request is larger. */
const LENGTH = 100_000;
/** Maximum processor time for one text, in milliseconds. Quadratic time would be more than 20 seconds. */
const LIMIT_MS = 500;

const repeated = (text: string) => text.repeat(LENGTH / text.length);
const spaced = `a${repeated('\t')}b`;
const message = (headers: object) => ({ headers, httpVersion: '1.1', url: '/' }) as unknown as IncomingMessage;
const attempt = (run: () => unknown) => {
  try {
    run();
  } catch {
    // Whether the text is rejected does not matter here.
  }
};
const masks = new Masks([]);
const text = (value: string) => masks.body(Buffer.from(value), 'text/plain');

const works: Readonly<Record<string, () => unknown>> = {
  'a query full of percent signs in the access log': () => maskQuery(repeated('%')),
  'a query full of credential names in the access log': () => maskQuery(`${repeated('key[')}=${repeated('session-')}`),
  'Connection headers full of tabs': () => requestsSwitch(message({ connection: spaced, upgrade: 'a' })),
  'Upgrade headers full of tabs': () =>
    protocolOf(message({ connection: 'upgrade', upgrade: spaced }), new Set(['websocket'])),
  'Connection headers of upgrades to HTTP/2': () =>
    requestsHttp2(message({ connection: `upgrade,${spaced}`, upgrade: 'h2c', 'http2-settings': 'a', host: 'a' })),
  'WebSocket subprotocols full of tabs': () => subprotocolsOf(new HeaderBag(['Sec-WebSocket-Protocol', spaced])),
  'Connection headers of requests to auth/external': () =>
    headerSelector(['*'], false)(makeRequest({ headers: ['Connection', spaced, 'a', '1', 'b', '2'] } as never)),
  'Connection headers of authorization servers': () => endToEnd(new HeaderBag(['Connection', spaced])),
  'ranges full of spaces': () =>
    replyWithRange(new Reply(200), `bytes=1${repeated(' ')}x`, Buffer.from('text'), 'text/plain'),
  'base64 for gRPC that consists of padding': () =>
    readScalar(ScalarType.BYTES, `${repeated('=')}x`, '', { takesPlainBytes: false }),
  'paths of folders with many slashes': () => asDirectory(`/a${repeated('/')}b`),
  'YAML numbers with many zeros': () => parseYaml(`a: ${repeated('0')}x`),
  'access tokens full of spaces': () => readToken(200, '', JSON.stringify({ access_token: `${repeated(' ')}\n` }), []),
  'recorded headers that resemble tokens': () => masks.header('X-A', repeated('eyJ-')),
  'recorded queries that resemble tokens': () => masks.query(`a=${repeated('eyJ-')}`),
  'recorded texts that resemble tokens': () => text(repeated('eyJ-')),
  'recorded texts full of credential names': () => text(repeated('token ')),
  'recorded texts that consist of one credential name': () => text(repeated('token')),
  'numbers in templates': () => toFloat(`${repeated('0')}x`),
  'durations in templates': () => parseGoDuration(`${repeated('1')}x`),
  'words in templates': () => compileTemplate('{{ camelcase .a }}').render({ a: `a${repeated('-')}` } as never),
  'long words in configurations': () => maskText(repeated('a'), '***'),
  'addresses with many colons in configurations': () => maskText(`a://${repeated(':')}`, '***'),
  'unclosed strings in configurations': () => tooDeepBracket(repeated('"a\\')),
};

/**
 * Files with expressions that may begin with an unbounded repetition: they read configurations, local files and short texts
 * of the gateway's own, or the expression consumes all that it has repeated.
 */
const excepted = new Set([
  ...['kernel/cases/contracts/contract-files.ts', 'kernel/cli/audit/template.ts', 'kernel/cli/formats/masks.ts'],
  ...['kernel/config/flexible/settings/formats.ts', 'kernel/config/normalize/hosts.ts'],
  ...['kernel/config/syntax/json/token.ts', 'kernel/containment/source-place.ts'],
  ...['kernel/templates/functions/encoding.ts', 'kernel/templates/functions/semver.ts'],
  ...['kernel/templates/functions/words.ts', 'kernel/templates/time/duration.ts', 'kernel/templates/time/layout.ts'],
  ...['plugins/ai/classifiers/engines.ts', 'plugins/auth/oidc/provider.ts', 'plugins/backend/pubsub/lib/gcp-client.ts'],
  ...['plugins/backend/soap.ts', 'plugins/clients/kafka/client.ts', 'plugins/documentation/openapi/import/upstream.ts'],
  ...['plugins/engines/grpc/times.ts', 'plugins/qos/http-cache/directives.ts', 'plugins/secrets/vault/api.ts'],
  ...['plugins/telemetry/influx/index.ts', 'plugins/telemetry/logging/go-time.ts'],
]);

/** An unbounded repetition of one character or class at the beginning, and what follows it. */
const leading = /^\(*(?:\?:)?(?:\\.|\[(?:[^\]\\]|\\.)*\]|[^\\^$()|[*+?])(?:[*+]|\{\d+,\})\??(.+)$/s;

/** Expressions that search from every position of a long run to its end, which takes quadratic time. */
function quadraticIn(file: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/');
      const rest = leading.exec(node.text.slice(1, end))?.[1] ?? ')';
      if (rest !== ')' && !node.text.slice(end).includes('y')) found.push(`${file} ${node.text}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest));
  return found;
}

describe('regular expressions', () => {
  it('do not begin with an unbounded repetition, except for short texts and those of operators', () => {
    const files = globSync('{kernel,plugins,admin}/**/*.ts').filter((file) => !excepted.has(file));
    deepEqual(files.flatMap(quadraticIn), []);
  });

  it('begin with an unbounded repetition in each file that is listed as an exception', () => {
    deepEqual(
      [...excepted].filter((file) => quadraticIn(file).length === 0),
      [],
    );
  });
});

describe('texts from clients and backends that are built to slow down their parsers', () => {
  for (const [name, work] of Object.entries(works)) {
    it(`are processed in linear time: ${name}`, () => {
      const ms = cost(() => attempt(work));
      ok(ms < LIMIT_MS, `${Math.round(ms)} ms`);
    });
  }
});
