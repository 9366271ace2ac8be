import { writeSync } from 'node:fs';
import { relative } from 'node:path';
import type { MutantResult } from '@stryker-mutator/api/core';
import { declareFactoryPlugin, PluginKind, tokens } from '@stryker-mutator/api/plugin';
import type { Reporter } from '@stryker-mutator/api/report';

/** Every fault that has been tried so far; its file from the top of the repository. */
export const tried: MutantResult[] = [];

/** Keeps what was tried, and shows how far it is. */
function collect(): Reporter {
  let total = 0;
  return {
    onMutationTestingPlanReady: ({ mutantPlans }) => {
      total = mutantPlans.length;
    },
    onMutantTested(mutant) {
      tried.push({ ...mutant, fileName: relative(process.cwd(), mutant.fileName) });
      if (process.stderr.isTTY) writeSync(2, `\r${tried.length} of ${total}`);
    },
  };
}
collect.inject = tokens();

export const strykerPlugins = [declareFactoryPlugin(PluginKind.Reporter, 'collect', collect)];
