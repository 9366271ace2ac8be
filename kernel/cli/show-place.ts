import type { Place } from '../inspect/index.ts';

/** `file:line:column`, as editors and terminals make links of. */
export function showPlace({ file, line, column, pointer }: Place): string {
  return line === undefined ? (file ?? pointer) : `${file}:${line}:${column}`;
}
