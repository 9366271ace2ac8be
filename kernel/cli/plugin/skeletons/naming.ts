import type { Naming } from '#contract';

/** @param name namespace of a plugin or name of a module, for example `acme/team`. */
export function namingOf(name: string, isolated: boolean): Naming {
  const words = name.split(/[/-]/).filter((word) => word !== '');
  const header = ['X', ...words.map((word) => word[0]!.toUpperCase() + word.slice(1))].join('-');
  return { name, word: name.slice(name.lastIndexOf('/') + 1), header, isolated };
}

export const inExtraConfig = (name: string): string => `"extra_config": { "${name}": {} }`;
