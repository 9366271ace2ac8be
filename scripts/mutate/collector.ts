import { readFileSync, writeSync } from 'node:fs';
import { relative } from 'node:path';
import type { MutantResult } from '@stryker-mutator/api/core';
import { declareFactoryPlugin, PluginKind, tokens } from '@stryker-mutator/api/plugin';
import type { Reporter } from '@stryker-mutator/api/report';

/** A fault that has been tried; its file is told from the top of the repository. */
export interface Tried extends MutantResult {
  /** The line it is in, as it stood when the run began, without the space around it. */
  readonly line: string;
}

/** Those of this run so far. */
export const tried: Tried[] = [];

/** Keeps what was tried, and shows how far it is. */
function collect(): Reporter {
  let total = 0;
  const lines = new Map<string, string[]>();
  return {
    onMutationTestingPlanReady: ({ mutantPlans }) => {
      total = mutantPlans.length;
      for (const { fileName } of mutantPlans.map(({ mutant }) => mutant)) {
        if (!lines.has(fileName)) lines.set(fileName, readFileSync(fileName, 'utf8').split('\n'));
      }
    },
    onMutantTested(mutant) {
      const { fileName, location } = mutant;
      const line = lines.get(fileName)![location.start.line - 1]!.trim();
      tried.push({ ...mutant, fileName: relative(process.cwd(), fileName), line });
      if (process.stderr.isTTY) writeSync(2, `\r${tried.length} of ${total}`);
    },
  };
}
collect.inject = tokens();

export const strykerPlugins = [declareFactoryPlugin(PluginKind.Reporter, 'collect', collect)];
