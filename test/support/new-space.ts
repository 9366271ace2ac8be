/**
 * Makes programs that tests start use the default size of the space for new objects: `scripts/check.ts` gives the
 * processes of tests a larger one, and workers inherit the arguments of the process that starts them.
 */
process.execArgv = process.execArgv.filter((argument) => !argument.includes('-semi-space-size='));
