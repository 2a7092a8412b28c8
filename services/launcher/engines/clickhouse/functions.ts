/**
 * The table functions that access neither files nor other servers. All other table functions of the engine are in
 * FORBIDDEN_FUNCTIONS.
 */
export const HARMLESS_TABLE_FUNCTIONS = new Set([
  'generate_series',
  'generateRandom',
  'generateSeries',
  'merge',
  'null',
  'numbers',
  'numbers_mt',
  'primes',
  'SQLStandardValues',
  'values',
  'view',
  'viewExplain',
  'viewIfPermitted',
  'zeros',
  'zeros_mt',
]);

/** Also a scalar function. As a table function it parses text in any format, and some formats open schema files. */
export const FORMAT_FUNCTION = 'format';

/**
 * Functions that read files, access other servers, or never end, in lower case. A test compares the list with the
 * functions of the engine.
 */
export const FORBIDDEN_FUNCTIONS = new Set(
  `aiclassify aiembed aiextract aigenerate aitranslate arrowstream azureblobstorage azureblobstoragecluster catboostevaluate cluster
   clusterallreplicas cosn deltalake deltalakeazure deltalakeazurecluster deltalakecluster deltalakelocal deltalakes3 deltalakes3cluster
   dictionary eval executable file filecluster filesystem fuzzjson fuzzquery gcs hdfs hdfscluster hudi hudicluster iceberg icebergazure
   icebergazurecluster icebergcluster iceberghdfs iceberghdfscluster iceberglocal iceberglocalcluster icebergs3 icebergs3cluster input
   jdbc loop mergetreeanalyzeindexes mergetreeanalyzeindexesuuid mergetreeindex mergetreeprojection mergetreetextindex mongodb mysql
   odbc oss paimon paimonazure paimonazurecluster paimoncluster paimonhdfs paimonhdfscluster paimonlocal paimons3 paimons3cluster
   postgresql prometheusquery prometheusqueryrange redis remote remotesecure s3 s3cluster sqlite timeseriesdata timeseriesmetrics
   timeseriessamples timeseriesselector timeseriestags url urlcluster ytsaurus`.split(/\s+/),
);
