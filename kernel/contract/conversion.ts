import type { DataObject } from '../values/data.ts';
import type { ConfigErrorOptions } from './errors.ts';

/** Callbacks of a plugin that converts a document. Pointers refer to the original document. */
export interface Conversion {
  error(code: string, pointer: string, message: string, options?: ConfigErrorOptions): void;
  warn(code: string, pointer: string, message: string, options?: ConfigErrorOptions): void;
  /**
   * Reports that the value of a key or position was moved from another place.
   * @param parent pointer of the containing object. @param from keys that lead from there to the original place.
   */
  moved(parent: string, key: string, ...from: string[]): void;
  /**
   * Reports that the values at a pointer were copied from another place of the document, so that secrets in them are
   * reported only there.
   */
  derived(pointer: string): void;
  /** Objects of the document that can have components, including the pipes within components. */
  holders(document: DataObject): Iterable<{ readonly holder: DataObject; readonly pointer: string }>;
}
