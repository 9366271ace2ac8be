import type { Site } from '#contract';
import { compileExpression, type Expression } from './expression.ts';
import { JmespathError } from './jmespath-error.ts';

/**
 * Compiles an expression of a configuration.
 *
 * @param pointer to the expression, relative to the configuration.
 * @throws ConfigError JMESPATH_SYNTAX
 */
export function readExpression(site: Pick<Site<unknown>, 'fault'>, source: string, pointer: string): Expression {
  try {
    return compileExpression(source);
  } catch (error) {
    if (!(error instanceof JmespathError)) throw error;
    const { message, hint, within } = error;
    throw site.fault('JMESPATH_SYNTAX', pointer, message, { hint, within });
  }
}
