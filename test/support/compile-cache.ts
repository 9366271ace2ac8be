import { enableCompileCache, getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';

/**
 * Caches compiled code on disk for this process and those that tests start, which halves the startup time of programs. `NODE_DISABLE_COMPILE_CACHE` disables it.
 */
enableCompileCache();
const folder = getCompileCacheDir();
// Uses the folder for this version of Node.js.
if (folder !== undefined) process.env['NODE_COMPILE_CACHE'] ??= dirname(folder);
