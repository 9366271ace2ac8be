import { resolveOwnModules } from './own-modules.ts';

// Imported by the processes in which the tests of plugins run.
resolveOwnModules();
