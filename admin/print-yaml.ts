import { type Scalar, type ScalarTag, stringify } from 'yaml';
import type { Data } from '#contract';

/** Number of any length, preserved as written. */
const rawNumber: ScalarTag = {
  identify: (value) => JSON.isRawJSON(value),
  default: true,
  tag: 'tag:yaml.org,2002:float',
  resolve: (text) => text,
  stringify: ({ value }: Scalar) => (value as { readonly rawJSON: string }).rawJSON,
};

/** Quotes strings that YAML 1.1 readers would interpret as another type. */
const options = {
  customTags: [rawNumber],
  compat: 'yaml-1.1' as const,
  aliasDuplicateObjects: false,
  lineWidth: 0,
};

/** Formats data as YAML, ending with a line break. */
export function printYaml(data: Data): string {
  return stringify(data, options);
}
