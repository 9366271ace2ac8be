import { deepEqual, equal, ok } from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { problemStatuses } from '../../admin/problem.ts';
import { allCommands } from '../../kernel/cli/main.ts';
import { catalogue } from '../../plugins/index.ts';
import { operations, operationsPage, titleOfOperation } from '../../scripts/docs/admin-operations.ts';
import { cliPage } from '../../scripts/docs/cli.ts';
import { errorAreas, errorsPage } from '../../scripts/docs/errors/index.ts';
import { logLines, logLinesPage } from '../../scripts/docs/log-lines/index.ts';
import { labels } from '../../scripts/docs/metric-labels.ts';
import { metricsPage } from '../../scripts/docs/metrics.ts';

const top = join(import.meta.dirname, '../..');

/** Upper-case names in the source that are not error codes of the gateway. */
const foreign: readonly (readonly [reason: string, names: RegExp])[] = [
  ['codes of Node.js, undici and the HTTP parser', /^(?:UND_ERR|ERR|HPE|EAI|WS_ERR|CERT)_|^RESOURCE_EXHAUSTION$/],
  [
    'environment variables',
    /^(?:FC|GATEWAY_(?:ENV|SOURCE)|GIT|NODE|GCE|CLOUDSDK|GOOGLE)_|^(?:HTTPS?|NO)_PROXY$|_HOST_URL$/,
  ],
  ['environment variables of AWS', /^AWS_(?:ACCESS|CONFIG|CONTAINER|DEFAULT|EC2|ENDPOINT|PROFILE|REGION|ROLE|S|WEB)/],
  [
    'environment variables of brokers',
    /_SERVER_URL$|^(?:SERVICEBUS_CONNECTION_STRING|PUBSUB_EMULATOR_HOST|KAFKA_BROKERS)$/,
  ],
  ['cipher suites', /^TLS_(?:AES|CHACHA20)_/],
  [
    'names of gRPC statuses',
    /^(?:ALREADY_EXISTS|DATA_LOSS|DEADLINE_EXCEEDED|FAILED_PRECONDITION|INVALID_ARGUMENT|NOT_FOUND|OUT_OF_RANGE|PERMISSION_DENIED|RESOURCE_EXHAUSTED)$/,
  ],
  [
    'codes of Kafka',
    /^(?:PLT_KFK|UNSUPPORTED_SASL|SASL)_|^(?:INVALID_RECORD|INVALID_TIMESTAMP|MESSAGE_TOO_LARGE|RECORD_LIST_TOO_LARGE)$/,
  ],
  [
    'reasons inside the HTTP client, which become BACKEND_ codes',
    /^(?:ANSWER_MALFORMED|CLIENT_CLOSED|CONNECTION_LOST|HEADERS_TIMEOUT|HEADERS_TOO_LARGE|HEADER_TIMEOUT|LENGTH_MISMATCH|REQUEST_ABORTED|REQUEST_INVALID|HTTP2_(?:CLOSED|HEADERS|STREAM))$/,
  ],
  ['signals between workers', /^TEXT_UNKNOWN$/],
  ['names of git', /^FETCH_HEAD$/],
  ['templates of documentation', /^API_KEY$/],
];

/** Functions whose first argument is the last part of an error code, with the first part. */
const composed: readonly (readonly [file: string, call: string, prefixes: readonly string[]])[] = [
  ['plugins/backend/http/client/failure.ts', 'make', ['BACKEND_']],
  ['kernel/runtime/tls.ts', 'fault', ['TLS_']],
  ['kernel/contract/tls-options.ts', 'fault', ['TLS_', 'CLIENT_TLS_']],
  ['plugins/clients/tls/client-tls.ts', 'fault', ['CLIENT_TLS_']],
];

describe('the reference pages for operation', () => {
  const sources = globSync('{kernel,plugins,admin}/**/*.ts', { cwd: top }).map((file) => ({
    file,
    text: readFileSync(join(top, file), 'utf8'),
  }));

  it('explain exactly the error codes that the source uses', () => {
    const used = new Set(sources.flatMap(({ file, text }) => codesIn(file, text)));
    const explained = Object.values(errorAreas).flatMap((codes) => Object.keys(codes));
    equal(new Set(explained).size, explained.length, 'a code is explained twice');
    const unexplained = [...used].filter((code) => !explained.includes(code));
    ok(unexplained.length === 0, `${unexplained.join(', ')}: add the cause and remedy in scripts/docs/errors`);
    const unused = explained.filter((code) => !used.has(code));
    ok(unused.length === 0, `${unused.join(', ')}: in scripts/docs/errors, but not in the source`);
    const page = errorsPage();
    for (const code of explained) ok(page.includes(`\n### ${code}\n`), code);
  });

  it('give every error code a cause and a remedy in whole sentences', () => {
    for (const [code, texts] of Object.values(errorAreas).flatMap((codes) => Object.entries(codes))) {
      for (const text of texts) ok(/^[`A-Z][^\n]*\.$/.test(text), `${code}: ${text}`);
    }
  });

  it('quote log lines as in the source', () => {
    const texts = sources.map(({ text }) => text);
    for (const { text } of Object.values(logLines).flat()) {
      const parts = text.split('…').filter((part) => /\w/.test(part));
      ok(
        texts.some((source) => parts.every((part) => source.includes(part))),
        text,
      );
      ok(logLinesPage().includes(text), text);
    }
  });

  it('list every metric that the source registers', () => {
    const names = new Set(
      sources.flatMap(({ file, text }) => {
        const pattern = file.startsWith('admin/metrics/')
          ? /name: '(\w+)'/g
          : /(?:[cC]ounter|gauge|histogram|lagGauge|memory|times|sizes)\(\s*'((?!router\.|service\.)[\w.-]+)'/g;
        return [...text.matchAll(pattern)].map(([, name]) => name!);
      }),
    );
    ok(names.size > 60, String(names.size));
    const page = metricsPage();
    deepEqual(
      [...names].filter((name) => !page.includes(`| \`${name}\` |`)),
      [],
    );
  });

  it('list every family of statistics in the Prometheus format', () => {
    const { text } = sources.find(({ file }) => file === 'plugins/telemetry/metrics/exposition.ts')!;
    const names = [...text.matchAll(/name: '(\w+)'/g)].map(([, name]) => `krakend_${name}`);
    equal(names.length, 7);
    for (const name of names) ok(metricsPage().includes(`| \`${name}\` |`), name);
  });

  it('have labels only for existing metrics', () => {
    const names = [...metricsPage().matchAll(/^\| `([^`]+)`/gm)].map(([, name]) => name!);
    for (const pattern of Object.keys(labels)) {
      ok(
        names.some((name) => new RegExp(`^(?:${pattern})$`).test(name)),
        pattern,
      );
    }
  });

  it('list the labels of every instrument of telemetry/opentelemetry', () => {
    const section = metricsPage().split('\n## OpenTelemetry\n')[1]!.split('\n## ')[0]!;
    const rows = [...section.matchAll(/^\| `([^`]+)` \|[^|]*\|[^|]*\|([^|]*)\|/gm)];
    ok(rows.length > 20, String(rows.length));
    const without = rows.filter(([, , given]) => given!.trim() === '').map(([, name]) => name);
    ok(without.length === 0, `${without.join(', ')}: add the labels in scripts/docs/metric-labels.ts`);
  });

  it('explain every command with all its flags', async () => {
    const page = await cliPage(catalogue);
    for (const [name, command] of Object.entries(await allCommands({ catalogue }))) {
      if (command.isAlias) continue;
      const shown = command.isGroup
        ? Object.entries(command.commands!).map(([inner, one]) => [`${name} ${inner}`, one] as const)
        : [[name, command] as const];
      for (const [words, { flags }] of shown) {
        const section = page.split(`\n## sluice ${words}\n`)[1]?.split('\n## ')[0] ?? '';
        for (const flag of Object.keys(flags)) ok(section.includes(`-${flag}`), `${words} --${flag}`);
      }
    }
  });

  it('explain every operation of the admin API, and every problem type', () => {
    const page = operationsPage();
    ok(operations.length > 30);
    for (const operation of operations) {
      const section = page.split(`\n## \`${titleOfOperation(operation)}\`\n`)[1]?.split('\n## ')[0];
      ok(section, titleOfOperation(operation));
      for (const { name } of operation.parameters ?? []) ok(section.includes(`| \`${name}\` |`), name);
      for (const status of Object.keys(operation.responses)) ok(section.includes(`| ${status} |`), status);
    }
    for (const slug of Object.keys(problemStatuses)) ok(page.includes(`\`urn:gateway:problem:${slug}\``), slug);
  });
});

/** Error codes in the string literals of a file. */
function codesIn(file: string, text: string): string[] {
  const found: string[] = [];
  const calls = composed.filter(([of]) => of === file);
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) && isCode(node.text)) found.push(node.text);
    if (ts.isCallExpression(node)) {
      const [first] = node.arguments;
      for (const [, name, prefixes] of calls) {
        if (node.expression.getText() !== name) continue;
        if (first && ts.isStringLiteralLike(first)) found.push(...prefixes.map((prefix) => prefix + first.text));
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
  return found;
}

function isCode(text: string): boolean {
  return (
    /^[A-Z][A-Z\d]*(?:_[A-Z\d]+)+$/.test(text) &&
    text !== 'CLIENT_TLS' &&
    !foreign.some(([, names]) => names.test(text))
  );
}
