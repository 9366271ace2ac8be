import { findNear, type Site } from '#contract';
import { type DefaultGuard, defaultGuards } from './default-guards.ts';
import type { CustomGuard } from './guard.ts';
import { type Selection, severities } from './schema.ts';

/** The guards that apply to an endpoint or backend. */
export interface Selected {
  readonly defaults: readonly DefaultGuard[];
  readonly custom: readonly CustomGuard[];
}

const deselectable: readonly string[] = ['all_defaults', ...severities, ...defaultGuards.map(({ name }) => name)];

/** @throws ConfigError PROMPT_GUARD_UNKNOWN; warning PROMPT_GUARD_NONE. */
export function select(site: Site<Selection>, declared: ReadonlyMap<string, CustomGuard>): Selected {
  const { guards: entries } = site.config;
  const removed = new Set<string>();
  const custom = new Set<CustomGuard>();
  for (const [index, entry] of entries.entries()) {
    const isRemoval = entry.startsWith('!');
    const name = isRemoval ? entry.slice(1) : entry;
    const guard = declared.get(name);
    if (isRemoval && deselectable.includes(name)) removed.add(name);
    else if (!isRemoval && guard) custom.add(guard);
    else throw unknown(site, entry, index, isRemoval ? deselectable.map((each) => `!${each}`) : [...declared.keys()]);
  }
  const defaults = defaultGuards.filter(
    ({ name, severity }) => !removed.has('all_defaults') && !removed.has(severity) && !removed.has(name),
  );
  if (defaults.length === 0 && custom.size === 0) {
    site.warn('PROMPT_GUARD_NONE', '/guards', 'requests are not inspected: all guards are deselected', {
      hint: 'list a guard that ai/prompt-guard at the root declares, or remove ai/prompt-guard',
    });
  }
  return { defaults, custom: [...custom] };
}

function unknown(site: Site<Selection>, entry: string, index: number, known: readonly string[]) {
  const near = findNear(entry, known);
  const hint = near
    ? `did you mean "${near.name}"?`
    : known.length > 0
      ? `known: ${known.join(', ')}`
      : 'declare it in ai/prompt-guard at the root';
  return site.fault('PROMPT_GUARD_UNKNOWN', `/guards/${index}`, `"${entry}" is not a guard`, { hint });
}
