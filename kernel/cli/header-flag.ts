import { UsageError } from './arguments.ts';

/** Parses the value of a flag for a request header, as in `Accept: text/html`. @throws UsageError. */
export function parseHeader(text: string): [name: string, value: string] {
  const [, name, value] = /^([!#$%&'*+\-.^_`|~\w]+):[ \t]*([^\r\n\0]*)$/.exec(text) ?? [];
  if (name === undefined) throw new UsageError(`not a header: ${text}`);
  return [name, value!.trimEnd()];
}
