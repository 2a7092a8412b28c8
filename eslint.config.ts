import js from '@eslint/js';
import { defineConfig } from 'eslint/config';
import regexp from 'eslint-plugin-regexp';
import tseslint from 'typescript-eslint';

const BROWSER_GLOBALS = [
  'AbortController',
  'addEventListener',
  'clearTimeout',
  'customElements',
  'document',
  'DOMParser',
  'EventSource',
  'fetch',
  'FormData',
  'HTMLElement',
  'localStorage',
  'location',
  'MutationObserver',
  'navigator',
  'setInterval',
  'setTimeout',
  'TextDecoderStream',
  'URL',
  'URLSearchParams',
];

/** Of a package: what it does not export, or might not tomorrow. */
const PRIVATE_PATH = '^(?:@[^/]+\\u002f)?[\\w.-]+\\u002f(?:lib|src|dist|build)\\u002f';
const PROTOTYPE = 'Change no prototype.';

export default defineConfig(
  { ignores: ['node_modules', '.data*', '.mutation', '.fuzz', '.dependency-cruiser.js', '**/*.mjs'] },
  js.configs.recommended,
  tseslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/return-await': ['error', 'in-try-catch'],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'no-console': 'error',
      eqeqeq: 'error',
      // Prettier wraps code, but not comments.
      'max-len': ['error', { code: 10_000, comments: 120, ignoreUrls: true }],
    },
  },
  {
    // Migrations that build indexes are plain JavaScript, because the runner loads them.
    files: ['schemas/postgres/*.js'],
    extends: [tseslint.configs.disableTypeChecked],
  },
  {
    // What the dashboard runs in browsers.
    files: ['services/api/dashboard/assets/*.js'],
    extends: [tseslint.configs.disableTypeChecked],
    languageOptions: { globals: Object.fromEntries(BROWSER_GLOBALS.map((name) => [name, 'readonly'])) },
  },
  {
    // Programs that talk to a terminal, not to a log.
    files: ['services/main.ts', 'services/admin/**', 'test/**', 'scripts/**', 'services/launcher/engines/**'],
    rules: { 'no-console': 'off' },
  },
  {
    // Nobody reaches into a package: its next release may change what is inside.
    ignores: ['test/**'],
    rules: {
      'no-restricted-imports': ['error', { paths: ['vm', 'node:vm'], patterns: [{ regex: PRIVATE_PATH }] }],
      'no-restricted-syntax': [
        'error',
        { selector: 'AssignmentExpression > .left MemberExpression[property.name="prototype"]', message: PROTOTYPE },
        { selector: 'CallExpression > MemberExpression.arguments[property.name="prototype"]', message: PROTOTYPE },
        { selector: 'ObjectPattern > Property[key.name="prototype"]', message: PROTOTYPE },
        {
          selector: 'MemberExpression[object.name="require"][property.name="cache"]',
          message: 'Change no module cache.',
        },
        { selector: `CallExpression > Literal.arguments[value=/${PRIVATE_PATH}/]`, message: 'Import public paths.' },
      ],
    },
  },
  {
    // Texts of strangers meet these: time in proportion to the square of a text's length, or worse, is a way to stop
    // the service.
    ignores: ['test/**'],
    plugins: { regexp },
    rules: {
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { report: 'potential', ignorePartial: false }],
    },
  },
);
