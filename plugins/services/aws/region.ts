/** Name of an AWS region: it becomes a label of host names, and a part of what is signed. */
export const REGION_PATTERN = '^[A-Za-z0-9-]+$';
