import { resolveOwnModules } from './own-modules.ts';

// Imported by the processes that run plugin tests.
resolveOwnModules();
