import { readFileSync, writeSync } from 'node:fs';
import { relative } from 'node:path';
import type { MutantResult } from '@stryker-mutator/api/core';
import { declareFactoryPlugin, PluginKind, tokens } from '@stryker-mutator/api/plugin';
import type { Reporter } from '@stryker-mutator/api/report';

/** A tested fault; its file is relative to the repository root. */
export interface Tried extends MutantResult {
  /** Source line at the start of the run, without surrounding space. */
  readonly line: string;
}

/** Faults tested so far in this run. */
export const tried: Tried[] = [];

/** Records results, and shows the progress. */
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
