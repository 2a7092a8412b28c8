import { z } from 'zod';
import { queryTime } from '../query-time.ts';

export const EXPORT_FORMATS = ['csv', 'ndjson', 'parquet'] as const;

export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** Query of GET /v1/monitors/{id}/matches/export. The service checks that the times fit together. */
export const matchExportQuery = z.strictObject({
  format: z.enum(EXPORT_FORMATS).describe('The form of the file.'),
  from: queryTime.optional().describe('Only matches recorded (`created_at`) at this time or later.'),
  to: queryTime.optional().describe('Only matches recorded before this time.'),
});
