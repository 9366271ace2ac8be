import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

/** @returns the TypeScript modules of a file or folder. */
export function modulesIn(path: string): string[] {
  if (statSync(path).isFile()) return [path];
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(path, name));
}

/** Offsets in a module at which code begins that may be skipped: functions, branches, loops, right-hand operands. */
export function blocksOf(path: string): number[] {
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
  const starts = new Set<number>();
  const visit = (node: ts.Node): void => {
    for (const part of skippable(node)) if (part) starts.add(part.getStart(source));
    ts.forEachChild(node, visit);
  };
  visit(source);
  return [...starts];
}

const lazy = new Set([
  ts.SyntaxKind.AmpersandAmpersandToken,
  ts.SyntaxKind.BarBarToken,
  ts.SyntaxKind.QuestionQuestionToken,
]);

/** The parts of a node that need not be executed when the node is. */
function skippable(node: ts.Node): readonly (ts.Node | undefined)[] {
  if (ts.isFunctionLike(node) && 'body' in node) return [node.body as ts.Node | undefined];
  if (ts.isIfStatement(node)) return [node.thenStatement, node.elseStatement];
  if (ts.isIterationStatement(node, false)) return [node.statement];
  if (ts.isConditionalExpression(node)) return [node.whenTrue, node.whenFalse];
  if (ts.isCaseOrDefaultClause(node)) return [node.statements[0]];
  if (ts.isCatchClause(node)) return [node.block];
  if (ts.isBinaryExpression(node) && lazy.has(node.operatorToken.kind)) return [node.right];
  return [];
}
