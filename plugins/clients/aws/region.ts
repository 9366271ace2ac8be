/** Pattern of an AWS region name: it becomes a label of host names and part of what is signed. */
export const REGION_PATTERN = '^[A-Za-z0-9-]+$';
