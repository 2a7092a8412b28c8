/** What start-engines.ts hands to tests through vitest's inject(). */
declare module 'vitest' {
  export interface ProvidedContext {
    /** host:port, separated by commas. */
    kafkaBrokers: string;
    /** An administrator's connection; tests make databases of their own (test-database.ts). */
    postgresUrl: string;
    /** A database with the newest schema, to which nobody connects: tests copy it. */
    postgresTemplate: string;
    clickhouseUrl: string;
  }
}
export {};
