/** The version of the API's contract, not of the build that serves it. */
export const API_VERSION = '1.0.0';
