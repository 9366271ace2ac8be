import { deepEqual } from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import ts from 'typescript';

/** Methods that accept any number of arguments, and fail if the arguments do not fit on the stack (about a hundred thousand). */
const takers = new Set(['push', 'unshift', 'splice', 'concat', 'max', 'min', 'fromCharCode', 'fromCodePoint', 'apply']);

/** True for files that can contain such a call: the others need not be parsed. */
const candidate = new RegExp(`\\.(?:${[...takers].join('|')})\\b[^]*?\\.\\.\\.`);

/** Calls in a file that spread a list into arguments. */
function spreadCalls(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  if (!candidate.test(text)) return [];
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const results: string[] = [];
  const look = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && node.arguments.some(ts.isSpreadElement)) {
      const { expression } = node;
      const name = ts.isPropertyAccessExpression(expression) ? expression.name.text : '';
      const { line } = source.getLineAndCharacterOfPosition(node.getStart());
      if (takers.has(name)) results.push(`${file}:${line + 1}  ${node.getText()}`);
    }
    ts.forEachChild(node, look);
  };
  look(source);
  return results;
}

describe('a list, which can be of any length,', () => {
  it('is never spread into the arguments of push, unshift, splice, concat, min or max', () => {
    const files = globSync('{kernel,plugins,admin,scripts}/**/*.ts').sort();
    deepEqual(files.flatMap(spreadCalls), []);
  });
});
