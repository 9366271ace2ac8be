import { match } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';

const program = new URL('../../../kernel/bin.ts', import.meta.url).pathname;
const config = new URL('../../../samples/cors/gateway.json', import.meta.url).pathname;

describe('the collector of the process', () => {
  it('puts nothing into the old generation for where it was made', () => {
    const { stdout } = spawnSync(process.execPath, ['--trace-pretenuring-statistics', program, 'check', '-c', config], {
      encoding: 'utf8',
      timeout: 60_000,
    });
    match(stdout, /Syntax OK!/);
    match(stdout, /^(?:(?!pretenuring).)*$/s);
  });
});
