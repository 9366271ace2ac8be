import type { ConfigErrorOptions } from './errors.ts';

/** What a plugin says about a document that it converts. Pointers are those of the document before. */
export interface Conversion {
  error(code: string, pointer: string, message: string, options?: ConfigErrorOptions): void;
  warn(code: string, pointer: string, message: string, options?: ConfigErrorOptions): void;
  /**
   * Under a key, or at a position, now stands what was written under another one.
   * @param parent pointer of the holder. @param from the keys that lead from the holder to where it was written.
   */
  moved(parent: string, key: string, ...from: string[]): void;
}
