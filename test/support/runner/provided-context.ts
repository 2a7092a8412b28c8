/** What start-engines.ts hands to every integration test through vitest's inject(). */
declare module 'vitest' {
  export interface ProvidedContext {
    /** host:port, separated by commas. */
    kafkaBrokers: string;
    /** An administrator's connection; tests make databases of their own (test-database.ts). */
    postgresUrl: string;
    clickhouseUrl: string;
  }
}
export {};
