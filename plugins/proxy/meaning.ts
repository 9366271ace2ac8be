import type { DataObject, Level, Meaning } from '#contract';

/** Ways to combine answers in which equal keys are joined. */
const joining: readonly unknown[] = ['deep', 'append'];

/** What the namespace means for what stands beside it. */
export function meaning(config: Readonly<DataObject>, level: Level): Meaning {
  const filter = config['flatmap_filter'] !== undefined && { filter: '/flatmap_filter' };
  if (level === 'backend') return { ...filter, ...(config['shadow'] === true && { apart: true }) };
  return {
    ...filter,
    ...(config['sequential'] === true && { sequence: '/sequential' }),
    ...(joining.includes(config['combiner']) && { joins: true }),
  };
}
