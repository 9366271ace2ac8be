import { resolveOwnModules } from './own-modules.ts';

// Imported by processes that run plugin tests, before the test.
resolveOwnModules();
