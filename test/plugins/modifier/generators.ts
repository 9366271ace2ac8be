import { rejects } from 'node:assert/strict';
import type { Level, Plugin } from '#contract';
import { ConfigErrors } from '../../../kernel/contract/internal.ts';
import { openHarness } from '../../support/harness.ts';

/** A template encoded for a configuration. */
export function encoded(template: string): string {
  return Buffer.from(template).toString('base64');
}

/** Errors of a configuration: codes, pointers and messages. */
export async function faultsOf(plugin: Plugin, level: Level, config: object, around: object = {}) {
  let faults: (readonly [code: string, pointer: string, message: string])[] = [];
  await rejects(openHarness(plugin, level, config, around), (error: unknown) => {
    if (!(error instanceof ConfigErrors)) throw error;
    faults = error.errors.map(({ code, pointer, message }) => [code, pointer, message] as const);
    return true;
  });
  return faults;
}
