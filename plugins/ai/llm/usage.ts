import type { Call } from '#contract';
import { modelListenersOf, type Tokens } from '../../shared/ports/model-usage.ts';
import { operationSlot } from './operation.ts';
import type { Price } from './schema.ts';
import type { Usage, Variables, Vendor } from './vendor.ts';

/** Reports the tokens of finished calls. */
export type ReportUsage = (call: Call, tokens: Tokens) => void;

const MILLION = 1_000_000;

/** @param price of a million tokens; undefined if unknown. */
export function reportingUsage(price: Price | undefined): ReportUsage {
  return (call, { input, output }) => {
    const cost = price && (input * price.input + output * price.output) / MILLION;
    for (const listener of modelListenersOf(call)) listener({ input, output, cost });
    call.get(operationSlot)?.used({ input, output }, cost);
  };
}

/**
 * Splits the used tokens into prompt and response tokens. Tokens that only the total contains, such as those for
 * reasoning, count as response tokens.
 */
export function tokensOf({ prompt, completion, total }: Usage): Tokens {
  return { input: prompt, output: Math.max(completion, total - prompt) };
}

/** Lowers the output limit in the vendor's variables to the limit of a token budget. All candidates of a response share the budget. */
export function withOutputLimit({ parameters }: Vendor, variables: Variables, limit: number | undefined): Variables {
  const { max_tokens: name, n } = parameters;
  if (limit === undefined || name === undefined) return variables;
  const alternatives = n === undefined ? 1 : Math.max(1, Number(variables[n] ?? 1) || 1);
  const share = Math.max(1, Math.floor(limit / alternatives));
  const own = Number(variables[name]) || Number.POSITIVE_INFINITY;
  return { ...variables, [name]: Math.min(own, share) };
}
