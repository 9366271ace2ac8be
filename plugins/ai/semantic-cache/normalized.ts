import { CallError } from '#contract';

const code = 'SEMANTIC_CACHE_EMBEDDING';

/** Maximum number of dimensions of a vector. */
const MAX_DIMENSIONS = 8192;

/** Scales a vector to length 1. @throws CallError for a vector of zeros, or with another number of dimensions. */
export function normalized(vector: Float32Array, dimensions: number | undefined): Float32Array {
  if (vector.length === 0 || vector.length > MAX_DIMENSIONS)
    throw new CallError(code, `the vector has ${vector.length} dimensions`);
  if (dimensions !== undefined && vector.length !== dimensions) {
    throw new CallError(code, `the vector has ${vector.length} dimensions instead of ${dimensions}`);
  }
  let square = 0;
  for (const value of vector) square += value * value;
  if (square === 0 || !Number.isFinite(square))
    throw new CallError(code, 'the numbers of the vector are all 0, or too large');
  const length = Math.sqrt(square);
  return vector.map((value) => value / length);
}
