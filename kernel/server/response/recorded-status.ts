/** Status in logs and counters for a request whose client disconnected before the response. */
export const CLIENT_LEFT = 499;

/** Status in logs and counters for a request whose connection was upgraded to another protocol; the client gets 101. */
export const UPGRADED = 100;
