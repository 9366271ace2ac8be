import { deepEqual } from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import ts from 'typescript';

/**
 * An uncaught exception belongs to the owner in whose context its emitter was created: its handlers need no owner of their own.
 * So it is the places that create sockets, sessions, threads and processes which have to say whose these are.
 */
const creators: Readonly<Record<string, readonly string[]>> = {
  'node:net': ['connect', 'createConnection', 'createServer'],
  'node:tls': ['connect'],
  'node:http': ['request'],
  'node:https': ['request'],
  'node:http2': ['connect'],
  'node:dgram': ['createSocket'],
  'node:child_process': ['spawn', 'fork', 'execFile'],
  'node:cluster': ['fork'],
  'node:worker_threads': ['Worker'],
  ws: ['WebSocket'],
};

/** Places that create one for their callers, with the reason why no owner is needed. */
const exceptions: Readonly<Record<string, string>> = {
  'admin/server/socket-listener.ts': 'the admin port sees only the façade: requests are owned by its application',
  'admin/server/unix-socket.ts': 'asks once whether a socket is in use, while the port opens',
  'kernel/config/syntax/large/parse-aside.ts': 'parses one text for the change that waits for it',
  'kernel/containment/watchdog.ts': 'one thread of the process, which nothing waits for',
  'kernel/inspect/try-address.ts': 'tries one address for the command that waits for it',
  'kernel/registry/loading/load-watch.ts': 'one thread of the first start, which nothing waits for',
  'kernel/registry/isolation/session.ts': 'what its messages do is contained, and it never throws',
  'kernel/workers/worker-slot.ts': 'starts processes: an exception in the one that leads them concerns all of them',
  'plugins/clients/http2/connection.ts': 'speaks over a socket that its caller has opened for an owner',
  'plugins/telemetry/gelf/tcp.ts': 'log-connection.ts opens it for an owner',
  'plugins/telemetry/gelf/udp.ts': 'sends alone; its one handler does nothing',
  'plugins/telemetry/logging/syslog.ts': 'log-connection.ts opens it for an owner',
  'plugins/websocket/dial.ts':
    'belongs to the request of its client; the shared connection is opened for an owner in modes.ts',
};

const owning = /\b(?:openOwned|runOwned|ownEvents)\(/;

/** True when a file creates what emits events of a system's handle. */
function creates(file: string): boolean {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
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
  let found = false;
  const visit = (node: ts.Node): void => {
    if ((ts.isCallExpression(node) || ts.isNewExpression(node)) && names.has(node.expression.getText())) found = true;
    ts.forEachChild(node, visit);
  };
  if (names.size > 0) visit(source);
  return found;
}

describe('owners of faults', () => {
  const files = globSync(['kernel/**/*.ts', 'plugins/**/*.ts', 'admin/**/*.ts'])
    .filter((file) => !file.startsWith('kernel/cli/'))
    .filter(creates)
    .sort();

  it('are named at every place that creates sockets, sessions, threads or processes', () => {
    const without = files.filter((file) => !owning.test(readFileSync(file, 'utf8')));
    deepEqual(without, Object.keys(exceptions).sort());
  });
});
