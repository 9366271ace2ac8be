import { parse } from '@bufbuild/cel';
import { CelError } from './cel-error.ts';
import { unquote } from './quoted-names.ts';

/** A node of the syntax tree of an expression, macros expanded. */
export type Expr = NonNullable<ReturnType<typeof parse>['expr']>;

export interface Syntax {
  readonly root: Expr;
  /** Position of a node in the source. */
  placeOf(node: Expr): CelError['within'];
}

/** Maximum length of an expression, in UTF-16 units, and maximum nesting depth. */
const MAX_LENGTH = 4096;
const MAX_DEPTH = 100;

/** Parses an expression. @throws CelError CEL_SYNTAX, CEL_SIZE. */
export function readSyntax(source: string): Syntax {
  if (source.length > MAX_LENGTH) {
    throw new CelError('CEL_SIZE', `has ${source.length} characters: at most ${MAX_LENGTH} are supported`);
  }
  const { text, names } = unquote(source);
  const { expr, sourceInfo } = parsed(text);
  if (depthOf(expr!) > MAX_DEPTH) throw tooDeep();
  if (names.size > 0) rename(expr!, names);
  const positions = sourceInfo?.positions ?? {};
  return {
    root: expr!,
    placeOf({ id }) {
      const start = positions[String(id)];
      return start === undefined ? undefined : { start, end: start + 1 };
    },
  };
}

/** Restores the quoted names of fields. */
function rename(node: Expr, names: ReadonlyMap<string, string>): void {
  const { case: kind, value } = node.exprKind;
  if (kind === 'selectExpr') value.field = names.get(value.field) ?? value.field;
  for (const child of childrenOf(node)) rename(child, names);
}

/** The dotted name that a node represents, as in `google.protobuf.Timestamp`; undefined for any other node. */
export function dottedName({ exprKind: { case: kind, value } }: Expr): string | undefined {
  if (kind === 'identExpr') return value.name;
  if (kind !== 'selectExpr' || value.testOnly) return undefined;
  const holder = dottedName(value.operand!);
  return holder && `${holder}.${value.field}`;
}

function parsed(source: string): ReturnType<typeof parse> {
  try {
    return parse(source);
  } catch (error) {
    if (error instanceof RangeError) throw tooDeep();
    const [, line, column, said] = /^<input>:(\d+):(\d+): (.*)$/s.exec((error as Error).message) ?? [];
    if (said === undefined) throw new CelError('CEL_SYNTAX', (error as Error).message);
    const before = source.split('\n').slice(0, Number(line) - 1);
    const start = before.reduce((sum, text) => sum + text.length + 1, 0) + Number(column) - 1;
    throw new CelError('CEL_SYNTAX', `is not a valid expression: ${said}`, { within: { start, end: start + 1 } });
  }
}

function tooDeep(): CelError {
  return new CelError('CEL_SIZE', `is nested more than ${MAX_DEPTH} levels deep`);
}

function depthOf(node: Expr): number {
  return 1 + childrenOf(node).reduce((deepest, child) => Math.max(deepest, depthOf(child)), 0);
}

export function childrenOf({ exprKind: { case: kind, value } }: Expr): readonly Expr[] {
  switch (kind) {
    case 'selectExpr':
      return [value.operand!];
    case 'callExpr':
      return value.target ? [value.target, ...value.args] : value.args;
    case 'listExpr':
      return value.elements;
    case 'structExpr':
      return value.entries.flatMap(({ keyKind, value: entry }) =>
        keyKind.case === 'mapKey' ? [keyKind.value, entry!] : [entry!],
      );
    case 'comprehensionExpr':
      return [value.iterRange!, value.accuInit!, value.loopCondition!, value.loopStep!, value.result!];
    default:
      return [];
  }
}

/** Creates a call that replaces a node. */
export function callOf({ id }: Expr, name: string, args: Expr[]): Expr {
  return {
    $typeName: 'cel.expr.Expr',
    id,
    exprKind: { case: 'callExpr', value: { $typeName: 'cel.expr.Expr.Call', function: name, args } },
  };
}

/** The string literal that a node represents; undefined for any other node. */
export function textOf({ exprKind: { case: kind, value } }: Expr): string | undefined {
  if (kind !== 'constExpr' || value.constantKind.case !== 'stringValue') return undefined;
  return value.constantKind.value;
}
