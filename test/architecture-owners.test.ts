import { deepEqual, ok } from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import ts from 'typescript';
import { beginnings, placesFor } from './support/planted/places.ts';

/**
 * An uncaught exception is attributed to the owner in whose context its emitter was created, so handlers need no owner of their own. Every place that creates a socket, session, thread or process must name the owner.
 */
const creators: Readonly<Record<string, readonly string[]>> = {
  'node:net': ['connect', 'createConnection', 'createServer'],
  'node:tls': ['connect', 'createServer', 'Server'],
  'node:http': ['request', 'createServer', 'Server'],
  'node:https': ['request', 'createServer', 'Server'],
  'node:http2': ['connect', 'createServer', 'createSecureServer'],
  'node:dgram': ['createSocket'],
  'node:child_process': ['spawn', 'fork', 'execFile'],
  'node:cluster': ['fork'],
  'node:worker_threads': ['Worker'],
  ws: ['WebSocket', 'WebSocketServer'],
  chokidar: ['watch'],
};

/** Places that create an emitter for their callers, with the reason why they need no owner. */
const exceptions: Readonly<Record<string, string>> = {
  'admin/server/http-server.ts': 'serves connections that socket-listener.ts has begun for an owner',
  'kernel/attack/wire.ts': 'attacks a gateway in a sandbox, for the command that waits for it',
  'kernel/cases/compat/served-mocks.ts': 'serves mocked backends for the command that waits for the comparison',
  'kernel/runtime/kept/unix-socket.ts': 'asks once whether a socket is in use, for the change that opens the port',
  'kernel/config/syntax/large/parse-aside.ts':
    'parses one text for the change, or the request of the admin port, that waits for it',
  'kernel/inspect/try-address.ts': 'tries one address for the command that waits for it',
  'kernel/registry/loading/load-watch.ts': 'watches the first start alone, for the change that loads plugins',
  'kernel/runtime/watch/directory-events.ts': 'follow-files.ts opens it for an owner',
  'kernel/server/http1/server.ts': 'serves connections that protocols.ts has begun for an owner',
  'kernel/server/http2/server.ts': 'serves connections that protocols.ts has begun for an owner',
  'kernel/server/port/tls.ts': 'serves connections that protocols.ts has begun for an owner',
  'plugins/clients/http2/connection.ts': 'speaks over a socket that its caller has opened for an owner',
  'plugins/telemetry/gelf/tcp.ts': 'log-connection.ts opens it for an owner',
  'plugins/telemetry/gelf/udp.ts': 'sends alone; its one handler does nothing',
  'plugins/telemetry/logging/syslog.ts': 'log-connection.ts opens it for an owner',
  'plugins/websocket/dial.ts':
    'belongs to the request of its client; the shared connection is opened for an owner in modes.ts',
};

const owning = /\b(?:openOwned|runOwned|beginOwned|startThread)\(/;

/** Programs of threads, which end with their thread. */
const threads: ReadonlySet<string> = new Set([
  'kernel/containment/watchdog-thread.ts',
  'kernel/registry/isolation/program.ts',
  'plugins/ai/semantic-cache/onnx/model-thread.ts',
  'plugins/auth/basic/comparison-thread.ts',
]);

/** Handlers of the whole process, whose errors belong to the process. */
const ofProcess: ReadonlySet<string> = new Set(['kernel/bin.ts']);

const registering: ReadonlySet<string> = new Set([
  'on',
  'once',
  'addListener',
  'prependListener',
  'prependOnceListener',
]);
const timers: ReadonlySet<string> = new Set(['setTimeout', 'setInterval', 'setImmediate']);

/** True for a call that registers a handler at an emitter or a timer. */
function registers(node: ts.Node): boolean {
  if (!ts.isCallExpression(node)) return false;
  const { expression, arguments: given } = node;
  if (ts.isIdentifier(expression)) return timers.has(expression.text);
  return (
    ts.isPropertyAccessExpression(expression) &&
    registering.has(expression.name.text) &&
    given.length > 1 &&
    ts.isStringLiteralLike(given[0]!)
  );
}

function sourceOf(file: string): ts.SourceFile {
  return ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
}

function contains(node: ts.Node, isMeant: (inner: ts.Node) => boolean): boolean {
  return isMeant(node) || (ts.forEachChild(node, (inner) => contains(inner, isMeant)) ?? false);
}

/** True if a file creates an emitter of events from a system handle. */
function creates(source: ts.SourceFile): boolean {
  const names = new Set<string>();
  for (const statement of source.statements) {
    if (!ts.isImportDeclaration(statement) || statement.importClause?.isTypeOnly) continue;
    const known = creators[(statement.moduleSpecifier as ts.StringLiteral).text] ?? [];
    const { namedBindings, name } = statement.importClause ?? {};
    if (name) for (const method of known) names.add(`${name.text}.${method}`);
    if (!namedBindings || !ts.isNamedImports(namedBindings)) continue;
    for (const element of namedBindings.elements) {
      if (!element.isTypeOnly && known.includes((element.propertyName ?? element.name).text))
        names.add(element.name.text);
    }
  }
  const isCreation = (node: ts.Node): boolean =>
    (ts.isCallExpression(node) || ts.isNewExpression(node)) && names.has(node.expression.getText());
  return names.size > 0 && contains(source, isCreation);
}

describe('the owner of an uncaught error', function () {
  // Every file of the tree is read.
  this.timeout(120_000);
  const all = globSync(['kernel/**/*.ts', 'plugins/**/*.ts', 'admin/**/*.ts'])
    .filter((file) => !/^kernel\/(?:cli|testing)\//.test(file) && !threads.has(file) && !ofProcess.has(file))
    .sort();
  const creating: string[] = [];
  const handling: string[] = [];

  before(() => {
    for (const file of all) {
      const source = sourceOf(file);
      if (creates(source)) creating.push(file);
      if (contains(source, registers)) handling.push(file);
    }
  });

  it('is named at every place in the code that creates a socket, session, thread or process', () => {
    const without = creating.filter((file) => !owning.test(readFileSync(file, 'utf8')));
    const unowned = without.filter((file) => !Object.hasOwn(exceptions, file));
    ok(unowned.length === 0, `${unowned.join(', ')}: create it with openOwned or runOwned of #contract`);
    deepEqual(without, Object.keys(exceptions).sort());
  });

  it('is known for every file that registers a handler or a timer', () => {
    const without = handling.filter((file) => placesFor(file).length === 0);
    deepEqual(without, []);
    const unused = beginnings.filter((beginning) => !handling.some((file) => file.startsWith(beginning)));
    deepEqual(unused, []);
  });
});
