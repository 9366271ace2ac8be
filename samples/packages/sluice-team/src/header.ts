/** Header that names the team. */
export const HEADER = 'X-Team';
