import type { ClientMetadata } from 'oidc-provider';
import { z } from 'zod';

/** How long a client that nobody has authorised, or its document, is kept. */
export const UNUSED_CLIENT_SECONDS = 24 * 3_600;
const MAX_REDIRECTS = 10;
const MAX_URI_LENGTH = 2_048;
const MAX_NAME_LENGTH = 100;
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);
/** Of a program, as RFC 8252 (7.1) asks for: a domain of its maker, such as `com.example.app`. */
const PROGRAM_SCHEME = /^[a-z][a-z\d-]*(?:\.[a-z\d-]+)+:$/;
/** Of widespread programs that do not follow it. */
const KNOWN_PROGRAMS = new Set(['cursor:', 'vscode:', 'vscode-insiders:']);
const CONTROLS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

const redirectUri = z
  .string()
  .max(MAX_URI_LENGTH)
  .refine(
    isRedirectUri,
    'must be https, http on this machine (localhost), or a scheme of a program with a dot; without a fragment',
  );

const orNull = <S extends z.ZodType>(schema: S) =>
  schema
    .nullish()
    .transform((value) => value ?? undefined)
    .optional();

/** The metadata of RFC 7591 that this server uses; the other members are ignored, and null counts as absent. */
export const clientMetadata = z.object({
  redirect_uris: z.array(redirectUri).min(1).max(MAX_REDIRECTS),
  client_name: orNull(z.string().max(1_000)),
  grant_types: orNull(z.array(z.string()).max(20)),
  response_types: orNull(z.array(z.string()).max(20)),
  token_endpoint_auth_method: orNull(z.string()),
});

export type GivenMetadata = z.output<typeof clientMetadata>;

/** Why the client cannot be used here; undefined when it can. */
export function metadataFault({ grant_types, response_types }: GivenMetadata): string | undefined {
  if (grant_types !== undefined && !grant_types.includes('authorization_code')) {
    return 'grant_types: must name authorization_code';
  }
  if (response_types !== undefined && !response_types.includes('code')) return 'response_types: must name code';
  return undefined;
}

/**
 * A client in the form the provider expects. A redirect to this machine or to a program makes it a native client. For a
 * redirect to this machine any port matches (RFC 8252), since programs use a free port each time.
 */
export function clientOf(
  id: string,
  given: GivenMetadata,
  authentication: { method: 'none' | 'client_secret_basic' | 'client_secret_post'; secret?: string },
): ClientMetadata {
  const isNative = given.redirect_uris.some((uri) => new URL(uri).protocol !== 'https:');
  const name = given.client_name?.replace(CONTROLS, ' ').trim().slice(0, MAX_NAME_LENGTH);
  return {
    client_id: id,
    ...(name ? { client_name: name } : {}),
    redirect_uris: given.redirect_uris,
    application_type: isNative ? 'native' : 'web',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: authentication.method,
    ...(authentication.secret === undefined ? {} : { client_secret: authentication.secret }),
  };
}

function isRedirectUri(text: string): boolean {
  if (!URL.canParse(text) || text.includes('#')) return false;
  const { protocol, hostname, username, password } = new URL(text);
  if (username !== '' || password !== '') return false;
  if (protocol === 'https:') return !LOOPBACK.has(hostname);
  if (protocol === 'http:') return LOOPBACK.has(hostname);
  return PROGRAM_SCHEME.test(protocol) || KNOWN_PROGRAMS.has(protocol);
}
