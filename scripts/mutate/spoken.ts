import { declareValuePlugin, PluginKind } from '@stryker-mutator/api/plugin';

/** Properties used of Babel's nodes. */
type Literal =
  | { readonly type: 'StringLiteral'; readonly value: string }
  | { readonly type: 'TemplateLiteral'; readonly quasis: readonly { readonly value: { readonly raw: string } }[] }
  | { readonly type: 'other' };

/** Excludes texts for humans from mutation, because a string of several words does not influence behavior. */
export const strykerPlugins = [
  declareValuePlugin(PluginKind.Ignore, 'spoken', {
    shouldIgnore(path) {
      const { node } = path as unknown as { readonly node: Literal };
      const texts =
        node.type === 'StringLiteral'
          ? [node.value]
          : node.type === 'TemplateLiteral'
            ? node.quasis.map(({ value }) => value.raw)
            : [];
      return texts.some((text) => /[a-z] |[a-z]\. [A-Z]| [a-z]/.test(text)) ? 'it is said to people' : undefined;
    },
  }),
];
