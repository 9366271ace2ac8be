/** The names by which the built files reach one another. */
export const imports = { '#contract': './kernel/contract/index.js', '#kernel': './kernel/index.js' };
