import { getKey, isObject, type Site } from '#contract';
import type { ModelUsage } from '../../shared/ports/model-usage.ts';
import type { BudgetConfig, QuotaUseConfig } from './schema.ts';

/** Maximum number of tokens that a request can use. */
export interface Plan {
  readonly weight: number;
  /** Maximum number of output tokens that models may generate. */
  readonly output: number;
}

/** A token budget: calculates the reservation of a request, and the weight of a usage. */
export interface Budget {
  plan(body: Uint8Array | null): Plan;
  weightOf(usage: ModelUsage): number;
}

const MILLION = 1_000_000;

/** Fields of request bodies that limit the output. */
const limits = ['max_tokens', 'max_completion_tokens', 'max_output_tokens'] as const;

/** @throws ConfigError QUOTA_BUDGET. */
export function budgetOf({ config, fault }: Site<QuotaUseConfig>): Budget | null {
  const { token_budget: budget, weight_key: key } = config;
  if (budget === undefined) return null;
  const at = '/token_budget';
  if (key !== undefined) {
    throw fault('QUOTA_BUDGET', at, 'token_budget cannot be combined with weight_key', { hint: 'Remove one of them.' });
  }
  if (budget.unit === 'cost' && budget.price === undefined) {
    throw fault('QUOTA_BUDGET', at, 'a budget with unit "cost" requires a price', {
      hint: 'Add "price" with the highest prices of the models.',
    });
  }
  const weightOf = weigher(budget);
  return {
    plan(body) {
      const bytes = body?.length ?? 0;
      const { output, alternatives } = requestedOutput(body, budget.max_output_tokens);
      const most = { input: Math.ceil(bytes / budget.bytes_per_token), output: output * alternatives };
      return {
        weight: weightOf({ ...most, cost: undefined }),
        output: most.output,
      };
    },
    weightOf,
  };
}

function weigher({ unit, price = { input: 0, output: 0 } }: BudgetConfig): (usage: ModelUsage) => number {
  const weights: Readonly<Record<BudgetConfig['unit'], (usage: ModelUsage) => number>> = {
    total: ({ input, output }) => input + output,
    input: ({ input }) => input,
    output: ({ output }) => output,
    cost: ({ input, output, cost }) => cost ?? (input * price.input + output * price.output) / MILLION,
  };
  return weights[unit];
}

/** The output limit and the number of alternative responses that a body requests, within the limit of the budget. */
function requestedOutput(
  body: Uint8Array | null,
  limit: number,
): { readonly output: number; readonly alternatives: number } {
  const data = parse(body);
  if (!isObject(data)) return { output: limit, alternatives: 1 };
  const output = limits.map((name) => naturalIn(data, name)).reduce((least, each) => Math.min(least, each), limit);
  const n = naturalIn(data, 'n');
  return { output, alternatives: n === Number.POSITIVE_INFINITY ? 1 : n };
}

/** Returns the natural number at a key; infinity if the value is not one. */
function naturalIn(data: Parameters<typeof getKey>[0], key: string): number {
  const value = getKey(data, key);
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1 ? value : Number.POSITIVE_INFINITY;
}

function parse(body: Uint8Array | null): unknown {
  if (body === null || body.length === 0) return null;
  try {
    return JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.length).toString());
  } catch {
    return null;
  }
}
