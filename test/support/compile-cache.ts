import { enableCompileCache } from 'node:module';
import { dirname } from 'node:path';

/**
 * Keeps compiled code and stripped types on disk, for this process and those that tests start: half of the time that a
 * program takes to start goes into them. `NODE_DISABLE_COMPILE_CACHE` switches it off.
 */
const { directory } = enableCompileCache();
// The cache is in a folder for this version of Node.js.
if (directory !== undefined) process.env['NODE_COMPILE_CACHE'] ??= dirname(directory);
