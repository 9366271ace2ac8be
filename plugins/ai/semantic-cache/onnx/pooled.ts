import type { Pooling } from './model-files.ts';
import type { Tensor } from './runtime.ts';

/** The vector of a text from the output for one text: the vectors of its tokens, or the vector itself. @throws Error for other outputs. */
export function pooled({ type, dims, data }: Tensor, pooling: Pooling): Float32Array {
  const [texts, second, third] = dims;
  if (type !== 'float32' || texts !== 1 || dims.length < 2 || dims.length > 3) {
    throw new Error(`the model has an output that is not supported: ${type}[${dims.join()}]`);
  }
  if (third === undefined) return data.slice();
  if (pooling === 'cls') return data.slice(0, third);
  const mean = new Float32Array(third);
  for (let token = 0; token < second!; token++) {
    for (let at = 0; at < third; at++) mean[at]! += data[token * third + at]! / second!;
  }
  return mean;
}
