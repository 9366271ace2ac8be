import type { Format } from './format.ts';
import { github } from './github.ts';
import { json } from './json.ts';
import { sarif } from './sarif.ts';
import { text } from './text.ts';

export type { Findings, Format } from './format.ts';

/** The formats of `check`, by name. */
export const formats: ReadonlyMap<string, Format> = new Map(Object.entries({ text, json, sarif, github }));
