/** Of the API: what is in it, not which build serves it. */
export const API_VERSION = '1.0.0';
