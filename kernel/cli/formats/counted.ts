/** A number with its noun, as in `1 error` and `2 errors`. @param noun singular, of a plural that ends with `s`. */
export function counted(number: number, noun: string): string {
  return `${number} ${number === 1 ? noun : `${noun}s`}`;
}
