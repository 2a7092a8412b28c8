/**
 * Every SQLSTATE of PostgreSQL 18's appendix A that is an error: by class, those that pass by themselves, and those of
 * our own making.
 */
export const SQLSTATES: Record<string, { away: string[]; ours: string[] }> = {
  '03': { away: [], ours: ['03000'] },
  '08': { away: ['08000', '08001', '08003', '08004', '08006', '08007', '08P01'], ours: [] },
  '09': { away: [], ours: ['09000'] },
  '0A': { away: [], ours: ['0A000'] },
  '0B': { away: [], ours: ['0B000'] },
  '0F': { away: [], ours: ['0F000', '0F001'] },
  '0L': { away: [], ours: ['0L000', '0LP01'] },
  '0P': { away: [], ours: ['0P000'] },
  '0Z': { away: [], ours: ['0Z000', '0Z002'] },
  '10': { away: [], ours: ['10608'] },
  '20': { away: [], ours: ['20000'] },
  '21': { away: [], ours: ['21000'] },
  '22': {
    away: [],
    ours: [
      ...['22000', '2202E', '22021', '22008', '22012', '22005', '2200B', '22022', '22015', '2201E', '22014', '22016'],
      ...['2201F', '2201G', '22018', '22007', '22019', '2200D', '22025', '22P06', '22010', '22023', '22013', '2201B'],
      ...['2201W', '2201X', '2202H', '2202G', '22009', '2200C', '2200G', '22004', '22002', '22003', '2200H', '22026'],
      ...['22001', '22011', '22027', '22024', '2200F', '22P01', '22P02', '22P03', '22P04', '22P05', '2200L', '2200M'],
      ...['2200N', '2200S', '2200T', '22030', '22031', '22032', '22033', '22034', '22035', '22036', '22037', '22038'],
      ...['22039', '2203A', '2203B', '2203C', '2203D', '2203E', '2203F', '2203G'],
    ],
  },
  '23': { away: [], ours: ['23000', '23001', '23502', '23503', '23505', '23514', '23P01'] },
  '24': { away: [], ours: ['24000'] },
  '25': {
    away: ['25006', '25P03', '25P04'],
    ours: ['25000', '25001', '25002', '25008', '25003', '25004', '25005', '25007', '25P01', '25P02'],
  },
  '26': { away: [], ours: ['26000'] },
  '27': { away: [], ours: ['27000'] },
  '28': { away: [], ours: ['28000', '28P01'] },
  '2B': { away: [], ours: ['2B000', '2BP01'] },
  '2D': { away: [], ours: ['2D000'] },
  '2F': { away: [], ours: ['2F000', '2F005', '2F002', '2F003', '2F004'] },
  '34': { away: [], ours: ['34000'] },
  '38': { away: [], ours: ['38000', '38001', '38002', '38003', '38004'] },
  '39': { away: [], ours: ['39000', '39001', '39004', '39P01', '39P02', '39P03'] },
  '3B': { away: [], ours: ['3B000', '3B001'] },
  '3D': { away: [], ours: ['3D000'] },
  '3F': { away: [], ours: ['3F000'] },
  '40': { away: ['40000', '40001', '40003', '40P01'], ours: ['40002'] },
  '42': {
    away: [],
    ours: [
      ...['42000', '42601', '42501', '42846', '42803', '42P20', '42P19', '42830', '42602', '42622', '42939', '42804'],
      ...['42P18', '42P21', '42P22', '42809', '428C9', '42703', '42883', '42P01', '42P02', '42704', '42701', '42P03'],
      ...['42P04', '42723', '42P05', '42P06', '42P07', '42712', '42710', '42702', '42725', '42P08', '42P09', '42P10'],
      ...['42611', '42P11', '42P12', '42P13', '42P14', '42P15', '42P16', '42P17'],
    ],
  },
  '44': { away: [], ours: ['44000'] },
  '53': { away: ['53000', '53100', '53200', '53300', '53400'], ours: [] },
  '54': { away: [], ours: ['54000', '54001', '54011', '54023'] },
  '55': { away: ['55000', '55006', '55P03'], ours: ['55P02', '55P04'] },
  '57': { away: ['57000', '57014', '57P01', '57P02', '57P03', '57P05'], ours: ['57P04'] },
  '58': { away: ['58000', '58030', '58P01', '58P02', '58P03'], ours: [] },
  F0: { away: [], ours: ['F0000', 'F0001'] },
  HV: { away: [], ours: ['HV000', 'HV005', 'HV00N'] },
  P0: { away: [], ours: ['P0000', 'P0001', 'P0002', 'P0003', 'P0004'] },
  XX: { away: [], ours: ['XX000', 'XX001', 'XX002'] },
};

/** Node's codes for a server that cannot be reached. */
export const NETWORK = [
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH'],
  ...['ENETDOWN', 'ENETRESET', 'ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'EADDRNOTAVAIL', 'EMFILE', 'ENFILE', 'ENOBUFS'],
];

/** Codes of ClickHouse's ErrorCodes.cpp that a client of ours can meet, and some that do not exist yet. */
export const CLICKHOUSE = {
  away: [
    ...['3', '24', '32', '33', '40', '49', '60', '74', '75', '76', '77', '81', '88', '95', '96', '102', '107', '113'],
    ...['158', '159', '160', '164', '172', '173', '191', '192', '193', '194', '195', '198', '201', '202', '203', '204'],
    ...['209', '210', '214', '216', '218', '225', '230', '232', '234', '236', '241', '242', '243', '244', '246', '252'],
    ...['254', '255', '265', '271', '274', '275', '279', '285', '286', '289', '290', '298', '299', '307', '319', '335'],
    ...['337', '341', '364', '369', '373', '379', '384', '394', '396', '415', '416', '424', '425', '439', '454', '473'],
    ...['492', '497', '499', '516', '517', '519', '521', '529', '745', '999', '1000', '1001', '1002', '2999'],
  ],
  ours: [
    ...['6', '7', '8', '9', '10', '15', '16', '19', '20', '25', '26', '27', '34', '35', '36', '37', '38', '41', '42'],
    ...[
      '43',
      '44',
      '46',
      '47',
      '48',
      '50',
      '51',
      '52',
      '53',
      '56',
      '57',
      '62',
      '63',
      '66',
      '69',
      '70',
      '72',
      '73',
      '78',
    ],
    ...['80', '115', '117', '123', '130', '152', '167', '168', '174', '179', '184', '207', '211', '215', '223', '229'],
    ...['321', '336', '344', '349', '352', '376', '377', '386', '392', '395', '403', '407', '427', '441', '450', '452'],
    ...['456', '457', '467', '469', '471', '549', '675', '676'],
  ],
};

/** What stands between us and ClickHouse answers in its own words. */
export const BALANCER_PAGES: [string, string][] = [
  [
    'nginx, 502',
    '<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n</body>\r\n</html>\r\n',
  ],
  [
    'HAProxy, 503',
    '<html><body><h1>503 Service Unavailable</h1>\nNo server is available to handle this request.\n</body></html>\n',
  ],
  ['a gateway, 504', '<!DOCTYPE html><html><body>504 Gateway Time-out</body></html>'],
  ['Envoy, 503', 'upstream connect error or disconnect/reset before headers. reset reason: connection failure'],
  ['nothing but a status', ''],
];

/** Every answer of the protocol that kafkajs knows: those to a request that is wrong itself. All others pass. */
export const KAFKA_OURS = [
  ...['INVALID_FETCH_SIZE', 'MESSAGE_TOO_LARGE', 'OFFSET_METADATA_TOO_LARGE', 'INVALID_TOPIC_EXCEPTION'],
  ...['RECORD_LIST_TOO_LARGE', 'INVALID_REQUIRED_ACKS', 'INCONSISTENT_GROUP_PROTOCOL', 'INVALID_GROUP_ID'],
  ...['INVALID_SESSION_TIMEOUT', 'INVALID_COMMIT_OFFSET_SIZE', 'TOPIC_AUTHORIZATION_FAILED'],
  ...['GROUP_AUTHORIZATION_FAILED', 'CLUSTER_AUTHORIZATION_FAILED', 'INVALID_TIMESTAMP', 'UNSUPPORTED_SASL_MECHANISM'],
  ...['ILLEGAL_SASL_STATE', 'UNSUPPORTED_VERSION', 'TOPIC_ALREADY_EXISTS', 'INVALID_PARTITIONS'],
  ...['INVALID_REPLICA_ASSIGNMENT', 'INVALID_CONFIG', 'INVALID_REQUEST', 'UNSUPPORTED_FOR_MESSAGE_FORMAT'],
  ...['POLICY_VIOLATION', 'INVALID_TRANSACTION_TIMEOUT', 'TRANSACTIONAL_ID_AUTHORIZATION_FAILED', 'SECURITY_DISABLED'],
  ...['SASL_AUTHENTICATION_FAILED', 'DELEGATION_TOKEN_AUTH_DISABLED', 'DELEGATION_TOKEN_NOT_FOUND'],
  ...['DELEGATION_TOKEN_OWNER_MISMATCH', 'DELEGATION_TOKEN_REQUEST_NOT_ALLOWED'],
  ...['DELEGATION_TOKEN_AUTHORIZATION_FAILED', 'DELEGATION_TOKEN_EXPIRED', 'INVALID_PRINCIPAL_TYPE'],
  ...['TOPIC_DELETION_DISABLED', 'UNSUPPORTED_COMPRESSION_TYPE', 'GROUP_SUBSCRIBED_TO_TOPIC', 'INVALID_RECORD'],
];
