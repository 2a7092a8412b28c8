import { refusal } from './faults.ts';

export const MAX_RESPONSE_BYTES = 256 * 2 ** 20;

/**
 * The limits of each statement of a reader: seconds, rows and bytes of the result, bytes in memory and on disk,
 * threads. Readers may set smaller values.
 */
const LIMITS: Record<string, number> = {
  max_execution_time: 30,
  max_result_rows: 1_000_000,
  max_result_bytes: MAX_RESPONSE_BYTES,
  max_memory_usage: 2 ** 30,
  max_temporary_data_on_disk_size_for_query: 2 ** 30,
  max_threads: 4,
};

const names = (list: string) => list.trim().split(/\s+/);
const outputFormat = (list: string) => names(list).map((name) => `output_format_${name}`);

/**
 * Settings that only format or limit a result. The list is exact, because settings with similar names hold paths
 * (output_format_schema) or addresses, or lift limits that protect the engine. A test compares the list with the types
 * of these settings in the engine.
 */
export const READER_SETTINGS: ReadonlySet<string> = new Set([
  ...outputFormat(`
    arrow_compression_method arrow_date_as_uint16 arrow_fixed_string_as_fixed_byte_array arrow_low_cardinality_as_dictionary
    arrow_string_as_string arrow_use_64_bit_indexes_for_dictionary arrow_use_signed_indexes_for_dictionary
    binary_encode_types_in_binary_format binary_write_json_as_string
    compression_level csv_crlf_end_of_line csv_serialize_tuple_into_separate_columns decimal_trailing_zeros float_precision
    json_array_of_rows json_escape_forward_slashes json_map_as_array_of_tuples json_named_tuples_as_objects json_pretty_print
    json_quote_64bit_floats json_quote_64bit_integers json_quote_decimals json_quote_denormals json_skip_null_value_in_named_tuples
    json_validate_utf8
    markdown_escape_special_characters msgpack_uuid_representation native_encode_types_in_binary_format
    native_use_flattened_dynamic_and_json_serialization native_write_json_as_string
    orc_compression_method orc_string_as_string parallel_formatting
    parquet_compression_method parquet_compliant_nested_types parquet_date_as_uint16 parquet_datetime_as_uint32
    parquet_fixed_string_as_fixed_byte_array parquet_row_group_size parquet_string_as_string parquet_version
    pretty_color pretty_display_footer_column_names pretty_fallback_to_vertical pretty_grid_charset pretty_highlight_digit_groups
    pretty_max_column_pad_width pretty_max_rows pretty_max_value_width pretty_max_value_width_apply_for_single_value
    pretty_multiline_fields pretty_row_numbers pretty_single_large_number_tip_threshold
    sql_insert_include_column_names sql_insert_max_batch_size sql_insert_quote_names sql_insert_use_replace
    trim_fixed_string tsv_crlf_end_of_line values_escape_quote_with_quote write_statistics`),
  ...names(`
    date_time_input_format date_time_output_format date_time_overflow_behavior
    date_time_64_output_format_cut_trailing_zeros_align_to_groups_of_thousands
    format_csv_delimiter format_csv_null_representation format_tsv_null_representation
    extremes final join_use_nulls limit log_comment offset result_overflow_mode session_timezone`),
]);

/** Drivers send these with every statement; they have no effect for a reader. */
const IGNORED_SETTINGS = new Set([
  'readonly',
  'async_insert',
  'wait_for_async_insert',
  'cancel_http_readonly_queries_on_client_close',
]);

/** The additional settings of clients that write: for inserts, mutations and tables. */
export const WRITER_SETTINGS: ReadonlySet<string> = new Set(
  names(`
    alter_sync async_insert cancel_http_readonly_queries_on_client_close insert_deduplicate insert_deduplication_token lightweight_deletes_sync max_block_size max_insert_block_size
    max_insert_threads max_partitions_per_insert_block max_rows_to_read max_bytes_to_read mutations_sync
    optimize_move_to_prewhere optimize_throw_if_noop query_plan_merge_filters readonly
    wait_for_async_insert
    input_format_defaults_for_omitted_fields input_format_json_read_numbers_as_strings input_format_null_as_default
    input_format_skip_unknown_fields
    index_granularity max_compress_block_size merge_with_ttl_timeout min_compress_block_size non_replicated_deduplication_window old_parts_lifetime ttl_only_drop_parts`),
);

/** Set on every write. Inserted values must be literals, because an expression could read a file. */
const FORCED_WRITER_SETTINGS: Record<string, string> = {
  input_format_values_interpret_expressions: '0',
  input_format_values_deduce_templates_of_expressions: '0',
};

const PARAMETER = /^param_[A-Za-z_]\w*$/;

/**
 * Returns the reader's settings, restricted to the limits, and the other limits. @throws Error for a setting that
 * readers may not choose.
 */
export function readOnlySettings(requested: Record<string, string>): Record<string, string> {
  const settings: Record<string, string> = {};
  for (const [name, value] of Object.entries(requested)) {
    if (IGNORED_SETTINGS.has(name) || Object.hasOwn(LIMITS, name)) continue;
    if (!READER_SETTINGS.has(name) && !PARAMETER.test(name)) {
      throw refusal(`Cannot modify '${name}' setting in readonly mode.`);
    }
    settings[name] = value;
  }
  for (const [name, limit] of Object.entries(LIMITS)) {
    const value = Number(requested[name] ?? limit);
    settings[name] = String(value > 0 && value < limit ? value : limit);
  }
  return settings;
}

/**
 * Returns the writer's settings and the forced ones. @throws Error for a setting that writers may not choose.
 */
export function writerSettings(requested: Record<string, string>): Record<string, string> {
  for (const name of Object.keys(requested)) {
    if (!PARAMETER.test(name)) checkWriterSetting(name);
  }
  return { ...requested, ...FORCED_WRITER_SETTINGS };
}

/** @throws Error for a setting that writers may not choose */
export function checkWriterSetting(name: string): void {
  const known = READER_SETTINGS.has(name) || WRITER_SETTINGS.has(name) || Object.hasOwn(LIMITS, name);
  if (!known) throw refusal(`Cannot modify the setting '${name}' here.`);
}
