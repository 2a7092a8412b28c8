declare module 'kafkajs/src/protocol/error.js' {
  const protocol: {
    errorCodes: { type: string; code: number; retriable: boolean }[];
    createErrorFromCode: (code: number) => Error;
  };
  export default protocol;
}

declare module 'kafkajs/src/errors.js' {
  /** All of them, also those that kafkajs does not export. */
  const errors: Record<string, new (message?: unknown, details?: object) => Error>;
  export default errors;
}
