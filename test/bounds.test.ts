import { deepEqual, equal, ok, throws } from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import ts from 'typescript';
import { toolServices } from '../kernel/cli/tools.ts';
import { type CompleteSchema, completeSchema } from '../kernel/pipeline/complete-schema.ts';
import { Registry } from '../kernel/registry/registry.ts';
import { catalogue } from '../plugins/index.ts';
import type { Bound } from '../scripts/docs/bounds/bound.ts';
import { bounds, boundsPage, defaultOf, limitOf } from '../scripts/docs/bounds/index.ts';

/** Bound of each container that outlives a call, by `file name`. */
const containers: Readonly<Record<string, readonly string[]>> = JSON.parse(
  readFileSync(new URL('bounds/containers.json', import.meta.url), 'utf8'),
);

const growing: ReadonlySet<string> = new Set(['Map', 'Set', 'LRUCache']);

function isContainer(node: ts.Expression | undefined): boolean {
  if (!node) return false;
  if (ts.isArrayLiteralExpression(node)) return node.elements.length === 0;
  if (!ts.isNewExpression(node)) return false;
  const name = node.expression.getText();
  return growing.has(name) && (name === 'LRUCache' || (node.arguments ?? []).length === 0);
}

/** The initially empty maps, sets and lists in fields and module variables of a file. */
function containersOf(file: string): string[] {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  const names = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyDeclaration(node) && isContainer(node.initializer)) names.add(node.name.getText());
    ts.forEachChild(node, visit);
  };
  visit(source);
  for (const statement of source.statements.filter(ts.isVariableStatement)) {
    for (const { name, type, initializer } of statement.declarationList.declarations) {
      const isConstant = /readonly/i.test(type?.getText() ?? '');
      if (!isConstant && isContainer(initializer)) names.add(name.getText());
    }
  }
  return [...names].map((name) => `${file} ${name}`);
}

describe('the table of memory bounds', () => {
  let schema: CompleteSchema;
  before(async () => {
    const registry = new Registry(catalogue, toolServices());
    schema = await completeSchema(registry);
    await registry.close();
  });

  const bound: Bound = { holds: 'Names', limit: 'max_names', beyond: 'They are dropped.', tests: [] };

  it('is a page with the limits from the code and the schemas', () => {
    const page = boundsPage(schema);
    equal(page.split('\n').filter((line) => line.startsWith('| ')).length, Object.values(bounds).flat().length + 8);
    equal(page.includes('| Requests waiting on an HTTP/1.1 connection (pipelining) | 100 requests |'), true);
    equal(page.includes('| `root: max_connections`, default `20000` |'), true);
    equal(page.includes('| 1 MiB, 32 interim responses |'), true);
    equal(page.includes('| 20 seconds, or dialer_timeout | `root: dialer_timeout`, default 20 seconds |'), true);
  });

  it('lists every bound once', () => {
    for (const rows of Object.values(bounds)) {
      const names = rows.map(({ holds }) => holds);
      deepEqual(names, [...new Set(names)]);
    }
  });

  it('is rejected if it names a constant, field or default that does not exist', () => {
    const from = 'kernel/server/http1/framing.ts';
    throws(() => limitOf({ ...bound, from, limit: '{MISSING} names' }), /framing.ts has no constant MISSING/);
    throws(() => defaultOf({ ...bound, setting: 'root: missing' }, schema), /unknown field "root: missing"/);
    throws(() => defaultOf({ ...bound, setting: 'endpoint: missing: a' }, schema), /unknown field/);
    throws(() => defaultOf({ ...bound, setting: 'root: tls' }, schema), /the default of "root: tls" is not stated/);
  });

  it('names the bound of every map, set and list that outlives a call', () => {
    const files = globSync(['kernel/**/*.ts', 'plugins/**/*.ts', 'admin/**/*.ts']);
    const found = files.filter((file) => !file.startsWith('kernel/cli/')).flatMap(containersOf);
    const known = Object.values(containers).flat();
    const unlisted = found.filter((container) => !known.includes(container));
    ok(unlisted.length === 0, `${unlisted.join(', ')}: add under what limits it in test/bounds/containers.json`);
    deepEqual(found.toSorted(), known.toSorted());
  });
});
