import type { Encoding } from '#contract';
import { passJson, readJsonObject, writeJson } from './json-body.ts';
import { mergeJson } from './json-merge.ts';
import { shapeJson } from './json-shape.ts';

/** The encoding `json`. */
export const jsonEncoding: Encoding = {
  name: 'json',
  decode: readJsonObject,
  encode: writeJson,
  passes: passJson,
  shapes: shapeJson,
  merges: mergeJson,
};
