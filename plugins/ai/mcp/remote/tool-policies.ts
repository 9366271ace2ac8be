import { type Call, claimsSlot, type DataObject, type Site } from '#contract';
import type { CelType } from '../../../engines/cel/language/types.ts';
import { objectValue } from '../../../engines/cel/language/values.ts';
import { compileWritten } from '../../../engines/cel/written-expression.ts';
import { matcherOf } from './name-pattern.ts';
import type { UpstreamConfig } from './schema.ts';

/** Whether all policies of a tool accept a call. */
export type AcceptsCall = (tool: string, args: DataObject, call: Call) => boolean;

const types: ReadonlyMap<string, CelType> = new Map<string, CelType>([
  ['tool', 'string'],
  ['args', { key: 'string', value: 'dyn' }],
  ['claims', { key: 'string', value: 'dyn' }],
]);

/** Compiles the policies of an upstream server. @throws ConfigError with the codes of expressions. @param at relative pointer of the server. */
export function toolPolicies(site: Site<unknown>, { policies }: UpstreamConfig, at: string): AcceptsCall {
  const compiled = policies.map(({ tools, expressions }, index) => ({
    applies: matcherOf(tools),
    expressions: expressions.map((source, position) =>
      compileWritten(site, source, `${at}/policies/${index}/expressions/${position}`, types),
    ),
  }));
  return (tool, args, call) => {
    const wanted = compiled.filter(({ applies }) => applies(tool));
    if (wanted.length === 0) return true;
    const variables = { tool, args: objectValue(args), claims: objectValue(call.get(claimsSlot) ?? {}) };
    // An expression that fails, for example because a claim is missing, rejects the call.
    return wanted.every(({ expressions }) =>
      expressions.every((expression) => expression.evaluate(variables, Math.max(call.remainingMs, 0)) === true),
    );
  };
}
