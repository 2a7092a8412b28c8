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

declare module 'kafkajs/src/retry/index.js' {
  /** Calls the function, again where its error says that this is worth it; rejects with the last error, wrapped. */
  const createRetry: (options: { retries: number }) => <T>(attempt: () => Promise<T>) => Promise<T>;
  export default createRetry;
}
