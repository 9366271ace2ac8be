/** Whether a URL leads to this machine, so that nothing sent to it without TLS can be read on a network. */
export function isLocal({ hostname }: URL): boolean {
  return /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}
