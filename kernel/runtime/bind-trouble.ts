const troubles: Readonly<Record<string, string>> = {
  EADDRINUSE: 'address already in use',
  EACCES: 'permission denied',
  EADDRNOTAVAIL: 'not an address of this machine',
};

/** Why an address cannot be listened on, in a few words. @param error of the system. */
export function bindTrouble({ code = '', message }: NodeJS.ErrnoException): string {
  return troubles[code] ?? message;
}
