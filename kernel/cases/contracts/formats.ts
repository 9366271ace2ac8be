import { createRequire } from 'node:module';

/** Formats that are recognized, the most specific first. */
const names = ['uuid', 'date-time', 'date', 'email'] as const;

/** Length of the longest string that is examined, in characters. */
const MAX_LENGTH = 320;

type Validate = (text: string) => boolean;

const require = createRequire(import.meta.url);

let loaded: ReadonlyMap<string, Validate> | undefined;

/** The validators of ajv-formats, which expectations of tests use as well. */
function validators(): ReadonlyMap<string, Validate> {
  const { default: formats } = require('ajv-formats') as typeof import('ajv-formats');
  loaded ??= new Map(
    names.map((name) => {
      const format = formats.get(name) as RegExp | { readonly validate: Validate };
      return [name, format instanceof RegExp ? (text) => format.test(text) : format.validate];
    }),
  );
  return loaded;
}

/** Whether inferred contracts can contain a format. */
export function isRecognized(format: string): boolean {
  return names.includes(format as (typeof names)[number]);
}

/** The recognized formats of a string. @param among the only formats to examine. Default: all. */
export function formatsOf(text: string, among: Iterable<string> = names): Set<string> {
  const results = new Set<string>();
  if (text.length > MAX_LENGTH) return results;
  for (const name of among) if (validators().get(name)?.(text)) results.add(name);
  return results;
}

/** The format that a contract names; undefined without any. */
export function chosenFormat(formats: ReadonlySet<string>): string | undefined {
  return names.find((name) => formats.has(name));
}
