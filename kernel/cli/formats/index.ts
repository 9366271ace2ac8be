import type { Format } from './format.ts';
import { github } from './github.ts';
import { sarif } from './sarif.ts';
import { text } from './text.ts';

export type { Findings, Format } from './format.ts';

/** One JSON object, for programs: `{"valid","errors","warnings"}`. */
const json: Format = {
  isForPeople: false,
  print: ({ errors, warnings }) => `${JSON.stringify({ valid: errors.length === 0, errors, warnings })}\n`,
};

/** The formats of `check`, by name. */
export const formats: ReadonlyMap<string, Format> = new Map(Object.entries({ text, json, sarif, github }));
