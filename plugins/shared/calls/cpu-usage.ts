/**
 * Processor time of this thread, or of the process where Node.js cannot tell its threads apart: other load on the machine
 * must not count against a limit. @param previous result of an earlier call, to return the difference.
 */
export const cpuUsage: typeof process.cpuUsage = (process.threadCpuUsage ?? process.cpuUsage).bind(process);
