import { equal, match, notEqual } from 'node:assert/strict';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { revisionDirectory, stateDirectory } from '../../../kernel/cli/state-directory.ts';

const names = ['GATEWAY_STATE_DIR', 'STATE_DIRECTORY', 'XDG_STATE_HOME'] as const;

describe('the state directory', () => {
  let before: NodeJS.ProcessEnv;

  beforeEach(() => {
    before = { ...process.env };
    for (const name of names) delete process.env[name];
  });
  afterEach(() => {
    for (const name of names) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
  });

  it('is the first of the flag, the variables and the home directory', () => {
    equal(stateDirectory(), join(homedir(), '.local/state/sluice'));
    process.env.XDG_STATE_HOME = '/xdg';
    equal(stateDirectory(), '/xdg/sluice');
    process.env.STATE_DIRECTORY = '/var/lib/sluice:/var/lib/other';
    equal(stateDirectory(), '/var/lib/sluice');
    process.env.GATEWAY_STATE_DIR = '/gateway';
    equal(stateDirectory(), '/gateway');
    equal(stateDirectory('/flag'), '/flag');
  });

  it('is never a relative XDG_STATE_HOME', () => {
    process.env.XDG_STATE_HOME = 'state';
    equal(stateDirectory(), join(homedir(), '.local/state/sluice'));
  });

  it('holds a history a configuration file, by its absolute path', () => {
    match(revisionDirectory('/s', 'gateway.json'), /^\/s\/revisions\/[0-9a-f]{12}$/);
    equal(revisionDirectory('/s', 'gateway.json'), revisionDirectory('/s', join(process.cwd(), 'gateway.json')));
    notEqual(revisionDirectory('/s', 'a.json'), revisionDirectory('/s', 'b.json'));
  });
});
