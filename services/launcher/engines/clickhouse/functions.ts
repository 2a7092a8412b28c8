/**
 * The table functions that reach neither files nor other servers. What the engine has beyond these is in
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

/** Also a scalar function. As a table function it parses text in any format, and some formats look for schema files. */
export const FORMAT_FUNCTION = 'format';

/**
 * Functions that read files, reach other servers, or never end; in lower case. A test compares the list with the
 * engine's own.
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
