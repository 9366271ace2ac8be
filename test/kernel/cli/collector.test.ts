import { match } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { command as program } from '../../support/programs.ts';

const config = new URL('../../../samples/cors/gateway.json', import.meta.url).pathname;

describe('the garbage collector settings of the process', () => {
  it('disable the allocation of new objects in the old generation', () => {
    const { stdout } = spawnSync(process.execPath, ['--trace-pretenuring-statistics', program, 'check', '-c', config], {
      encoding: 'utf8',
      timeout: 60_000,
    });
    match(stdout, /Syntax OK!/);
    match(stdout, /^(?:(?!pretenuring).)*$/s);
  });
});
