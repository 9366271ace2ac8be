import { canonicalHeaderName, paramKey, type Site } from '#contract';
import { compileExpression, type Expression, type ExpressionOptions } from './expression.ts';
import { CelError } from './language/cel-error.ts';
import type { CelType } from './language/types.ts';

/**
 * Compiles an expression of a configuration. Warns with CEL_KEY for keys that can never exist as written.
 * @throws ConfigError with the codes of `compileExpression`.
 */
export function compileWritten(
  site: Site<unknown>,
  source: string,
  pointer: string,
  types: ReadonlyMap<string, CelType>,
  options?: ExpressionOptions,
): Expression {
  try {
    const expression = compileExpression(source, types, site.use('patterns'), options);
    warnOfKeys(site, expression, pointer);
    return expression;
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    const { code, message, hint, within } = error;
    if (code === 'CEL_NAME' && !types.has('JWT') && /'JWT'/.test(message)) {
      throw site.fault('CEL_NAME', pointer, 'JWT is not available in backends', {
        hint: 'move it to the endpoint',
        within,
      });
    }
    throw site.fault(code, pointer, message, { hint, within });
  }
}

function warnOfKeys(site: Site<unknown>, { keys }: Expression, pointer: string): void {
  for (const { variable, key } of keys) {
    const isHeader = variable === 'req_headers' || variable === 'resp_metadata_headers';
    const meant = isHeader ? canonicalHeaderName(key) : variable === 'req_params' ? paramKey(key) : key;
    if (meant === key) continue;
    const what = isHeader ? 'header' : 'parameter';
    site.warn('CEL_KEY', pointer, `${variable} never has '${key}'`, { hint: `the key of the ${what} is '${meant}'` });
  }
}
