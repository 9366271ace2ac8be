import { type CelEnv, celEnv, isCelError, plan } from '@bufbuild/cel';
import type { Patterns } from '#contract';
import { type Budget, bounded, spend } from './language/budget.ts';
import { CelError } from './language/cel-error.ts';
import { Checker, type NamedKey } from './language/checker.ts';
import { functions, PUSH, TURN } from './language/functions.ts';
import { language } from './language/signatures.ts';
import { callOf, childrenOf, type Expr, readSyntax } from './language/syntax.ts';
import { timeMethods } from './language/time.ts';
import { type CelType, typeName } from './language/types.ts';
import { expandMacros, macroFunctions, macroLibrary } from './macros.ts';

/** Result of an evaluation: true, false, or the reason of a failure. */
export type Verdict = boolean | string;

export interface Expression {
  readonly source: string;
  /** Variables that the expression reads. */
  readonly reads: ReadonlySet<string>;
  /** Literal keys that the expression looks up in variables. */
  readonly keys: readonly NamedKey[];
  /** Functions and methods that the expression calls, including operators. */
  readonly calls: ReadonlySet<string>;
  /**
   * Evaluates without side effects, within the budget.
   * @param variables by name; each is read only when the expression needs it.
   * @param limitMs time limit, in milliseconds.
   */
  evaluate(variables: object, limitMs: number): Verdict;
}

export interface ExpressionOptions {
  /** Enables the functions of `macroLibrary`; evaluations then need `withSource`. */
  readonly macros?: boolean;
  /** Limits of an evaluation. Default: 50,000 members of lists and objects, and 100 ms of CPU time. */
  readonly budget?: Budget;
}

/**
 * Compiles a condition of the Common Expression Language, and checks as much as possible before the first request.
 * @param variables variables it may read, with their types.
 * @throws CelError CEL_SYNTAX, CEL_SIZE, CEL_NAME, CEL_FUNCTION, CEL_TYPE, CEL_NEVER, CEL_PATTERN, CEL_NO_CONDITION.
 */
export function compileExpression(
  source: string,
  variables: ReadonlyMap<string, CelType>,
  patterns: Patterns,
  { macros = false, budget }: ExpressionOptions = {},
): Expression {
  const syntax = readSyntax(source);
  const library = macros ? macroLibrary : language;
  const { type, reads, keys, calls, patterns: written } = new Checker(syntax, variables, library).check();
  if (type !== 'bool' && type !== 'dyn') {
    throw new CelError('CEL_NO_CONDITION', `is a ${typeName(type)}: a condition must be true or false`);
  }
  for (const pattern of written) compilePattern(pattern, patterns);
  if (macros) expandMacros(syntax);
  boundLoops(syntax.root);
  const run = plan(environment(patterns), syntax.root) as (bindings: object) => unknown;
  return {
    source,
    reads,
    keys,
    calls,
    evaluate(bindings, limitMs) {
      let result: unknown;
      const exceeded = bounded(
        limitMs,
        () => {
          result = run(bindings);
        },
        budget,
      );
      if (exceeded !== null) return exceeded;
      if (typeof result === 'boolean') return result;
      return isCelError(result) ? result.message : 'the result is neither true nor false';
    },
  };
}

function compilePattern(pattern: string, patterns: Patterns): void {
  try {
    patterns.compile(pattern);
  } catch (error) {
    const { message, hint } = error as { readonly message: string; readonly hint?: string };
    throw new CelError('CEL_PATTERN', `the pattern '${pattern}' ${message}`, { hint });
  }
}

/** Makes loops count every iteration, and makes `map` and `filter` append to their list in place. */
function boundLoops(node: Expr): void {
  for (const child of childrenOf(node)) boundLoops(child);
  const { case: kind, value } = node.exprKind;
  if (kind !== 'comprehensionExpr') return;
  value.loopCondition = callOf(node, TURN, [value.loopCondition!]);
  growInPlace(value.loopStep!, value.accuVar);
}

function growInPlace(step: Expr, accumulator: string): void {
  const { case: kind, value } = step.exprKind;
  if (kind !== 'callExpr') return;
  const [made, more] = value.args;
  const isOwn = made?.exprKind.case === 'identExpr' && made.exprKind.value.name === accumulator;
  if (value.function === '_+_' && isOwn && more?.exprKind.case === 'listExpr') value.function = PUSH;
  else if (value.function === '_?_:_') growInPlace(more!, accumulator);
}

/** Number of characters that a pattern scans in about the time of one step. */
const PATTERN_STEP = 1024;

/** Wraps patterns so that they charge the length of their input to the budget. */
function countedPatterns(patterns: Patterns) {
  return {
    compile(source: string) {
      const pattern = patterns.compile(source);
      return {
        test(text: string) {
          spend(Math.ceil(text.length / PATTERN_STEP));
          return pattern.test(text);
        },
      };
    },
  };
}

const environments = new WeakMap<Patterns, CelEnv>();

function environment(patterns: Patterns): CelEnv {
  let made = environments.get(patterns);
  if (!made) {
    made = celEnv({ funcs: [...functions, ...timeMethods, ...macroFunctions], re2: countedPatterns(patterns) });
    environments.set(patterns, made);
  }
  return made;
}
