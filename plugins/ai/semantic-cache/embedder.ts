import { type Call, definePort, type Port } from '#contract';

/** Turns texts into vectors. */
export interface Embedder {
  /** Identity of the embedder; equal for embedders whose vectors can be compared. */
  readonly identity: string;
  /** The vector of a text, with length 1. @throws CallError `SEMANTIC_CACHE_EMBEDDING`, or the call's abort reason. */
  embed(text: string, call: Call): Promise<Float32Array>;
}

/** The embedders of the root, by name. */
export const embedders: Port<ReadonlyMap<string, Embedder>> = definePort('embedders');
