import { type Formats, matching } from './format.ts'

const WORD = '[\\w+~-]+(?:\\.[\\w+~-]+)*'
const HOST = '[a-zA-Z0-9-]+(?:\\.[a-zA-Z0-9-]+)*'

const EMAIL = new RegExp(`^${WORD}@${HOST}$`)
const EMAIL_OR_USER = new RegExp(`^${WORD}(?:@${HOST})?$`)

/** Kinds of text that stand for themselves. */
export const TEXT_FORMATS: Formats = {
  email: matching(EMAIL, () => 'value does not look like a valid email address'),
  'email-or-username': matching(EMAIL_OR_USER, () => 'value does not look like a valid email address or user name'),
  urlencoded: matching(/^(?:[-_.~a-zA-Z0-9]|%[0-9a-fA-F]{2})*$/, (text) => `invalid urlencoded string: ${text}`),
  string: { judge: () => undefined },
  'graphite-path': matching(/^[-A-Za-z0-9_.]+$/, () => 'value does not look like a valid graphite path'),
  'pem-string': matching(
    /^\s*-----BEGIN [^\n]+-----\n[\s\S]+\n-----END [^\n]+-----\s*$/,
    () => 'PEM string is not valid',
  ),
  'pem-certificate-chain': matching(
    /^(?:\s*-----BEGIN CERTIFICATE-----\n[^-]+\n-----END CERTIFICATE-----\s*)+$/,
    () => 'not a valid PEM-formatted certificate chain',
  ),
  'pve-command-batch': { judge: batchError },
  'ldap-simple-attr': matching(
    /^[a-zA-Z0-9]+$/,
    (text) => `value '${text}' does not look like a simple ldap attribute name`,
  ),
}

function batchError(text: string): string | undefined {
  try {
    return Array.isArray(JSON.parse(text)) ? undefined : 'commands is not an array'
  } catch {
    return 'commands param did not contain valid JSON'
  }
}
