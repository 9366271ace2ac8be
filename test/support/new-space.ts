/**
 * Makes the programs that tests start work with the usual room for new objects: `scripts/check.ts` gives the processes of
 * tests a larger one, and workers inherit the arguments of the process that starts them.
 */
process.execArgv = process.execArgv.filter((argument) => !argument.startsWith('--max-semi-space-size='));
