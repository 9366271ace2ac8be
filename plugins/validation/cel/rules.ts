import { type Call, CallError, type Log, type Site } from '#contract';
import type { Conditions } from '../../engines/cel/conditions.ts';
import type { Expression, Verdict } from '../../engines/cel/expression.ts';
import type { CelType } from '../../engines/cel/language/types.ts';
import { type Readable, requestTypes, responseTypes, Variables } from '../../engines/cel/variables.ts';
import { compileWritten } from '../../engines/cel/written-expression.ts';
import type { CheckConfig } from './schema.ts';

/** Phase in which a condition is evaluated. */
export type Phase = 'token' | 'request' | 'response';

interface Rule {
  /** Position among the rules of its phase. */
  readonly at: number;
  readonly expression: Expression;
  readonly config: CheckConfig;
}

/** Conditions that one endpoint or backend checks in one phase of a request. */
export class Rules implements Conditions {
  readonly #rules: readonly Rule[];
  readonly #log: Log;

  constructor(rules: readonly Rule[], log: Log) {
    this.#rules = rules;
    this.#log = log;
  }

  get any(): boolean {
    return this.#rules.length > 0;
  }

  reads(prefix: string): boolean {
    return this.#rules.some(({ expression }) => [...expression.reads].some((name) => name.startsWith(prefix)));
  }

  readingData(reads: boolean): Rules {
    const chosen = this.#rules.filter(({ expression }) => expression.reads.has('resp_data') === reads);
    return new Rules(chosen, this.#log);
  }

  /** @returns the error that ends the call; null if every condition holds. Code: CEL_REJECTED. */
  check(from: Readable, call: Call, isMessage = false): CallError | null {
    const variables = new Variables(from);
    for (const { at, expression, config } of this.#rules) {
      const verdict = expression.evaluate(variables, Math.max(call.remainingMs, 0));
      if (verdict === true) {
        this.#log.debug(() => `Evaluator #${at} result: true`);
        continue;
      }
      this.#log[isMessage ? 'debug' : 'info'](() => `Evaluator #${at} ${said(verdict)}`);
      return rejection(at, config);
    }
    return null;
  }
}

function said(verdict: Verdict): string {
  return typeof verdict === 'string' ? `failed: ${verdict}` : 'result: false';
}

function rejection(at: number, { error }: CheckConfig): CallError {
  const message = `request aborted by evaluator #${at}`;
  if (!error) return new CallError('CEL_REJECTED', message);
  const { status, body = message, content_type: contentType } = error;
  return new CallError('CEL_REJECTED', message, { view: { status, body, contentType } });
}

const requestNames = Object.keys(requestTypes);
const responseNames = Object.keys(responseTypes);

/** Types of the variables at an endpoint or the service; backends have no token. */
export const outerTypes: ReadonlyMap<string, CelType> = new Map<string, CelType>([
  ...Object.entries(requestTypes),
  ...Object.entries(responseTypes),
  ['now', 'string'],
  ['JWT', { key: 'string', value: 'dyn' }],
]);
export const backendTypes: ReadonlyMap<string, CelType> = new Map([...outerTypes].filter(([name]) => name !== 'JWT'));

/** Compiles the conditions of one endpoint or backend, by phase. Configuration errors: those of `compileExpression`; warning CEL_KEY. */
export function readRules(
  site: Site<readonly CheckConfig[]>,
  types: ReadonlyMap<string, CelType>,
): Readonly<Record<Phase, Rules>> {
  const phases: Record<Phase, Rule[]> = { token: [], request: [], response: [] };
  for (const [at, config] of site.config.entries()) {
    const expression = compileWritten(site, config.check_expr, `/${at}/check_expr`, types);
    const rules = phases[phaseOf(expression)];
    rules.push({ at: rules.length, expression, config });
  }
  const log = site.log.at('[CEL]');
  return {
    token: new Rules(phases.token, log),
    request: new Rules(phases.request, log.at('[pre]')),
    response: new Rules(phases.response, log.at('[post]')),
  };
}

/** A condition that reads both early and late variables is evaluated in the later phase. */
function phaseOf({ reads }: Expression): Phase {
  if (responseNames.some((name) => reads.has(name))) return 'response';
  return reads.has('JWT') && !requestNames.some((name) => reads.has(name)) ? 'token' : 'request';
}
