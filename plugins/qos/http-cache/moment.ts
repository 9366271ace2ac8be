/** Current time, in milliseconds: monotonic, and the same for all processes of a machine. */
export function moment(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}
