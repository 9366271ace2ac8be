/** Import names by which the built files refer to one another. */
export const imports = { '#contract': './kernel/contract/index.js', '#kernel': './kernel/index.js' };
