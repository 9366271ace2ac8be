import type { DataObject, Site } from '#contract';
import { replaceLiteral } from '../../shared/values/replace-literal.ts';
import type { ModifierConfig } from './schema.ts';
import { type ChangeText, changeTexts } from './text-fields.ts';

type Kind = keyof ModifierConfig;
type ConfigOf<K extends Kind> = NonNullable<ModifierConfig[K]>;

/** Kinds of modifiers, in the order in which those of one item are applied. */
const kinds: {
  readonly [K in Kind]-?: (config: ConfigOf<K>, pattern: Site<unknown>['pattern'], at: string) => ChangeText;
} = {
  regexp: ({ find, replace }, pattern, at) => pattern(find, `${at}/find`).replacer(replace),
  literal: ({ find, replace }) => replaceLiteral(find, replace),
  trim: ({ find }) => trimming(new Set(find)),
  lower: () => (text) => text.toLowerCase(),
  upper: () => (text) => text.toUpperCase(),
};

/**
 * Compiles modifiers to a function that changes data in place.
 *
 * @throws ConfigError PATTERN_INVALID
 */
export function compileModifiers(
  site: Pick<Site<unknown>, 'pattern'>,
  modifiers: readonly ModifierConfig[],
): (data: DataObject) => DataObject {
  const pattern: Site<unknown>['pattern'] = (source, pointer) => site.pattern(source, pointer);
  const changes = modifiers.flatMap((modifier, at) =>
    (Object.keys(kinds) as Kind[]).flatMap((kind) => {
      const config = modifier[kind];
      if (!config) return [];
      const compile = kinds[kind] as (config: object, ...rest: [typeof pattern, string]) => ChangeText;
      const change = compile(config, pattern, `/modifiers/${at}/${kind}`);
      return changeTexts(config.field, change, { entersArrays: true });
    }),
  );
  return (data) => {
    for (const change of changes) change(data);
    return data;
  };
}

function trimming(characters: ReadonlySet<string>): ChangeText {
  return (text) => {
    const all = [...text];
    let start = 0;
    let end = all.length;
    while (start < end && characters.has(all[start]!)) start++;
    while (end > start && characters.has(all[end - 1]!)) end--;
    return end - start === all.length ? text : all.slice(start, end).join('');
  };
}
