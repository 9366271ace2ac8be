/** Whether the status is interim, so that another response follows. Protocol upgrades are never requested. */
export function isInterim(status: number): boolean {
  return status >= 100 && status < 200 && status !== 101;
}

/** Whether a response has no body, regardless of its headers. */
export function isBodiless(status: number): boolean {
  return status === 204 || status === 205 || status === 304;
}
