import { equal, match, notEqual } from 'node:assert/strict';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { revisionDirectory, stateDirectory } from '../../../kernel/cli/files/state-directory.ts';

describe('the state directory', () => {
  it('is set by the flag, otherwise by environment variables, and is otherwise in the home directory', () => {
    const env: NodeJS.ProcessEnv = {};
    equal(stateDirectory(env), join(homedir(), '.local/state/sluice'));
    env.XDG_STATE_HOME = '/xdg';
    equal(stateDirectory(env), '/xdg/sluice');
    env.STATE_DIRECTORY = '/var/lib/sluice:/var/lib/other';
    equal(stateDirectory(env), '/var/lib/sluice');
    env.GATEWAY_STATE_DIR = '/gateway';
    equal(stateDirectory(env), '/gateway');
    equal(stateDirectory(env, '/flag'), '/flag');
  });

  it('ignores a relative XDG_STATE_HOME', () => {
    equal(stateDirectory({ XDG_STATE_HOME: 'state' }), join(homedir(), '.local/state/sluice'));
  });

  it('contains a history for each configuration file, by its absolute path', () => {
    match(revisionDirectory('/s', 'gateway.json'), /^\/s\/revisions\/[0-9a-f]{12}$/);
    equal(revisionDirectory('/s', 'gateway.json'), revisionDirectory('/s', join(process.cwd(), 'gateway.json')));
    notEqual(revisionDirectory('/s', 'a.json'), revisionDirectory('/s', 'b.json'));
  });
});
