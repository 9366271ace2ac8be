import { callOf, type Expr, textOf } from './syntax.ts';

/**
 * Turns `isEmpty(m.a.b)` into an expression that is also true if `m` has no `a`, or `a` no `b`: CEL does not make a
 * call whose argument fails.
 */
export function expandEmpty(node: Expr, argument: Expr): void {
  const absent = absence(argument);
  if (!absent) return;
  const call: Expr = { ...node };
  node.exprKind = callOf(node, '_||_', [absent, call]).exprKind;
}

/** Builds an expression that is true if a member is missing; undefined if the node is not a member. */
function absence(node: Expr): Expr | undefined {
  const member = memberOf(node);
  if (!member) return undefined;
  const own = callOf(node, '!_', [member.isThere]);
  const outer = absence(member.holder);
  return outer ? callOf(node, '_||_', [outer, own]) : own;
}

function memberOf(node: Expr): { holder: Expr; isThere: Expr } | undefined {
  const { case: kind, value } = node.exprKind;
  if (kind === 'selectExpr' && !value.testOnly) {
    const holder = value.operand!;
    const exprKind = { case: kind, value: { ...value, operand: structuredClone(holder), testOnly: true } };
    return { holder, isThere: { ...node, exprKind } };
  }
  if (kind !== 'callExpr' || value.function !== '_[_]') return undefined;
  const [holder, key] = value.args as [Expr, Expr];
  if (textOf(key) === undefined) return undefined;
  return { holder, isThere: callOf(node, '@in', [structuredClone(key), structuredClone(holder)]) };
}
