import { type Scalar, type ScalarTag, stringify } from 'yaml';
import type { Data } from '#contract';

/** A number of any length, kept as it is written. */
const rawNumber: ScalarTag = {
  identify: (value) => JSON.isRawJSON(value),
  default: true,
  tag: 'tag:yaml.org,2002:float',
  resolve: (text) => text,
  stringify: ({ value }: Scalar) => (value as { readonly rawJSON: string }).rawJSON,
};

/** Texts that readers of YAML 1.1 take for something else are quoted. */
const options = {
  customTags: [rawNumber],
  compat: 'yaml-1.1' as const,
  aliasDuplicateObjects: false,
  lineWidth: 0,
};

/** Data as YAML. Ends with a line break. */
export function printYaml(data: Data): string {
  return stringify(data, options);
}
