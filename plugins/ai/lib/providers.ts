import { definePort } from '#contract';

/** Properties of a declared provider that routing uses. */
export interface ProviderFacts {
  readonly vendor: string;
  readonly model: string;
  /** Prices of a million tokens; undefined if unknown. */
  readonly price: { readonly input: number; readonly output: number } | undefined;
}

/** The providers declared at the root, by name. */
export const declaredProviders = definePort<ReadonlyMap<string, ProviderFacts>>('providers of language models');
