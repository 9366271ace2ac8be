import type { DataObject, Level, Meaning } from '#contract';

/** Ways to combine responses in which equal keys are merged. */
const joining: readonly unknown[] = ['deep', 'append'];

/** Effects of the namespace on its sibling settings. */
export function meaning(config: Readonly<DataObject>, level: Level): Meaning {
  const filter = config['flatmap_filter'] !== undefined && { filter: '/flatmap_filter' };
  if (level === 'backend') return { ...filter, ...(config['shadow'] === true && { apart: true }) };
  return {
    ...filter,
    ...(config['sequential'] === true && { sequence: '/sequential' }),
    ...(joining.includes(config['combiner']) && { joins: true }),
  };
}
