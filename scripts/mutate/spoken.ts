import { declareValuePlugin, PluginKind } from '@stryker-mutator/api/plugin';

/** What is asked of a node of Babel's tree. */
type Literal =
  | { readonly type: 'StringLiteral'; readonly value: string }
  | { readonly type: 'TemplateLiteral'; readonly quasis: readonly { readonly value: { readonly raw: string } }[] }
  | { readonly type: 'other' };

/** Leaves alone what is said to people: a text of several words decides nothing. */
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
